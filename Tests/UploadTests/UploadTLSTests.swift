import Foundation
import HLS
import HTTPProbe
import MediaTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Packager
import Synchronization
import TestSupport
import Testing
import Upload

/// Stores with TLS and certificates of authorities that the system does not know.
@Suite("Uploads over TLS")
struct UploadTLSTests {
    private struct Running: MonotonicClock {
        private let start = ContinuousClock.now
        func now() -> Int64 {
            let (seconds, attoseconds) = (ContinuousClock.now - self.start).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000 + 1
        }
    }

    private struct Files: EmptyFiles {
        func bytes(of name: String) -> [UInt8]? { Array(name.utf8) }
        func keep(_ record: UploadRecord, durable: Bool) -> Bool { true }
    }

    /// Accepts every PUT, or reads nothing after the head of the first.
    private final class Origin: ChannelInboundHandler, Sendable {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        let taken: Mutex<[String]>
        private let isDeaf: Bool

        init(_ taken: consuming Mutex<[String]>, isDeaf: Bool = false) {
            self.taken = taken
            self.isDeaf = isDeaf
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head):
                self.taken.withLock { $0.append("\(head.method.rawValue) \(head.uri)") }
                if self.isDeaf { context.channel.setOption(.autoRead, value: false).whenFailure { _ in } }
            case .body: break
            case .end where self.isDeaf: break
            case .end:
                context.write(
                    Self.wrapOutboundOut(
                        .head(HTTPResponseHead(version: .http1_1, status: .created, headers: ["content-length": "0"]))),
                    promise: nil)
                context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }

    @Test(
        "uploads go to a server with a certificate of the configured authority; another's is refused, and reported"
    )
    func authorities() async throws {
        try CertificateMaker.require()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try CertificateMaker.make(certificate: "\(folder)/a.pem", key: "\(folder)/a.key")
        try CertificateMaker.make(certificate: "\(folder)/b.pem", key: "\(folder)/b.key")
        let origin = Origin(Mutex([]))
        let server = try await Self.serve(origin, folder)
        let port = try #require(server.localAddress?.port)
        for (authority, isKnown) in [("a", true), ("b", false)] {
            let notices = Mutex<[UploadNotice]>([])
            let (told, tell) = AsyncStream.makeStream(of: Void.self)
            let uploader = Uploader(
                outputID: "x", target: HTTPOrigin(url: "https://localhost:\(port)/live/"), rules: UploadRules(),
                connections: 2, files: Files(), clock: Running(), authorities: "\(folder)/\(authority).pem"
            ) { notice in
                notices.withLock { $0.append(notice) }
                tell.yield()
            }
            uploader.begin()
            uploader.list(SimulatedOrigin.listing(through: 0, isFirst: true, isEnded: true))
            if !isKnown { for await _ in told { break } }
            let end = await uploader.finish(by: isKnown ? Running().now() + 20_000_000_000 : 0)
            #expect(end == (isKnown ? .whole : .incomplete(isNoted: true)))
            let names = origin.taken.withLock { $0 }
            #expect(names.contains("PUT /live/index.m3u8") && names.contains("PUT /live/v-1-0.m4s"))
            #expect(names.count == 8, "\(names): nothing but the first room's")
            #expect(notices.withLock { $0 }.isEmpty == isKnown)
        }
        try await server.close()
    }

    /// A server with the certificate `a` in a directory.
    private static func serve(_ origin: Origin, _ folder: String) async throws -> any Channel {
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMFile("\(folder)/a.pem").map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: "\(folder)/a.key", format: .pem))))
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(origin)
                }
            }.bind(host: "127.0.0.1", port: 0).get()
    }

    @Test("an HTTPS store that stops reading does not keep the uploader from finishing")
    func deaf() async throws {
        try CertificateMaker.require()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try CertificateMaker.make(certificate: "\(folder)/a.pem", key: "\(folder)/a.key")
        let origin = Origin(Mutex([]), isDeaf: true)
        let server = try await Self.serve(origin, folder)
        let port = try #require(server.localAddress?.port)
        let uploader = Uploader(
            outputID: "x", target: HTTPOrigin(url: "https://localhost:\(port)/live/"), rules: UploadRules(),
            connections: 2, files: Files(), clock: Running(), authorities: "\(folder)/a.pem", notify: { _ in })
        uploader.begin()
        uploader.list(SimulatedOrigin.listing(through: 0, isFirst: true))
        try await waitUntil("an upload has begun") { origin.taken.withLock { !$0.isEmpty } }
        #expect(await uploader.finish(by: 0) == .incomplete(isNoted: true))
        try await server.close()
    }
}
