import HLS
import MediaTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing
import Upload

@Suite("Uploads: objects still to be deleted when the room ends")
struct UploadEndTests {
    private static let leftovers = (0..<50).map { "old-\($0).m4s" }

    private struct Files: EmptyFiles {
        func bytes(of name: String) -> [UInt8]? { Array(name.utf8) }
        func record() -> UploadRecord? { UploadRecord(origin: 5, next: 0, leftovers: UploadEndTests.leftovers) }
    }

    /// A clock that advances only with deletions.
    private final class Deletions: MonotonicClock {
        private let state = Mutex<(names: [String], time: Int64)>(([], 0))
        private let length: Int64

        /// - Parameter length: Nanoseconds that each deletion takes.
        init(length: Int64) { self.length = length }

        func now() -> Int64 { self.state.withLock(\.time) }
        var names: [String] { self.state.withLock(\.names) }

        func add(_ name: String) {
            self.state.withLock { state in
                state.names.append(name)
                state.time += self.length
            }
        }
    }

    /// Accepts every object and deletion.
    private final class Store: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let deletions: Deletions

        init(_ deletions: Deletions) { self.deletions = deletions }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head): if head.method == .DELETE { self.deletions.add(head.uri) }
            case .body: break
            case .end:
                context.write(
                    Self.wrapOutboundOut(
                        .head(HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"]))),
                    promise: nil)
                context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }

    /// Sends an ended room to a store. Returns the objects it has deleted by then.
    private static func deleted(_ deletions: Deletions) async throws -> Set<String> {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Store(deletions))
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let uploader = Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:\(port)/live/"), rules: UploadRules(),
            connections: 2, files: Files(), clock: deletions, notify: { _ in })
        uploader.begin()
        uploader.list(SimulatedOrigin.listing(through: 0, isFirst: true, isEnded: true))
        #expect(await uploader.finish(by: deletions.now() + 60_000_000_000) == .whole)
        try await server.close()
        return Set(deletions.names)
    }

    @Test("objects still to be deleted at the room's end are all deleted before the uploader finishes")
    func all() async throws {
        let deleted = try await Self.deleted(Deletions(length: 0))
        #expect(deleted == Set(Self.leftovers.map { "/live/\($0)" }))
    }

    @Test("if the store takes a second for each deletion, the uploader finishes before all objects are deleted")
    func bounded() async throws {
        let deleted = try await Self.deleted(Deletions(length: 1_000_000_000))
        #expect((1..<40).contains(deleted.count), "\(deleted.count) of \(Self.leftovers.count)")
    }
}
