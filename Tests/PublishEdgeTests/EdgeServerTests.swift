import Logging
import NIOCore
import NIOPosix
import PublishEdge
import RTMP
import Synchronization
import Testing
import Threading

/// A room on a real socket: the server that workers use. It can stop reading.
private final class SocketRoom: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What the room has received since its creation.
    final class Report: Sendable {
        private struct State {
            var payloads: [[UInt8]] = []
            var channel: (any Channel)?
        }

        private let state = Mutex(State())

        func note(_ payload: [UInt8]) { self.state.withLock { $0.payloads.append(payload) } }

        func set(_ channel: any Channel) { self.state.withLock { $0.channel = channel } }
        var channel: (any Channel)? { self.state.withLock(\.channel) }
        var payloads: [[UInt8]] { self.state.withLock(\.payloads) }
    }

    private let report: Report
    private let room: NIOLoopBoundBox<MemoryRoom>
    private let pausesAfterStart: Bool

    init(_ report: Report, on loop: any EventLoop, pauses: Bool) {
        self.report = report
        self.pausesAfterStart = pauses
        self.room = NIOLoopBoundBox(MemoryRoom(RTMPServerConfiguration(), .accept), eventLoop: loop)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        let room = self.room.value
        let before = room.requests.count
        let answer = room.receive(Array(buffer.readableBytesView))
        if !answer.isEmpty { context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil) }
        for message in room.takeMedia() { self.report.note(message.payload) }
        if before == 0, room.requests.count == 1 {
            self.report.set(context.channel)
            if self.pausesAfterStart { context.channel.setOption(.autoRead, value: false).whenFailure { _ in } }
        }
    }
}

/// Collects what a publisher receives.
private final class Ear: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var heard: [UInt8] = []
    private var started: EventLoopPromise<Void>?

    init(_ started: EventLoopPromise<Void>) { self.started = started }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.heard += self.unwrapInboundIn(data).readableBytesView
        guard let started, Heard.all(self.heard).contains(where: { $0.statusCode == "NetStream.Publish.Start" }) else {
            return
        }
        self.started = nil
        started.succeed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.started?.fail(ChannelError.eof)
        self.started = nil
    }
}

@Suite("The publish edge on real sockets", .timeLimit(.minutes(1)))
struct EdgeServerTests {
    @Test(
        "every byte of the edge's publisher reaches a room that pauses reading, and the publisher's end reaches it after them",
        arguments: [(0, true), (20, true), (20, false)] as [(Int64, Bool)])
    func slowRoom(delay: Int64, splices: Bool) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let report = SocketRoom.Report()
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        SocketRoom(report, on: channel.eventLoop, pauses: true))
                }
            }
            // Small, so that the room's pause reaches the publisher soon.
            .childChannelOption(.socketOption(.so_rcvbuf), value: 64 << 10)
            .bind(host: "127.0.0.1", port: 0).get()
        let keys = try TemporaryKeys()
        defer { keys.remove() }
        try keys.write("127.0.0.1:\(listener.localAddress?.port ?? 0)", for: "live/key")
        var settings = EdgeSettings(listen: "127.0.0.1:0", directory: KeyDirectory(path: keys.path))
        settings.readDelay = delay * 1_000_000
        settings.splices = splices
        let edge = EdgeServer(settings, clock: SystemClock(), logger: Logger(label: "test"))
        let bound = try await edge.start()
        let port = try #require(bound.plain?.split(separator: ":").last.flatMap { Int($0) })

        let started = group.next().makePromise(of: Void.self)
        let publisher = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Ear(started)) }
            }
            .connect(host: "127.0.0.1", port: port).get()
        var script = Script()
        script.chunkSize(65_536)
        script.connect()
        script.publish()
        try await publisher.writeAndFlush(ByteBuffer(bytes: script.bytes))
        try await started.futureResult.get()

        let opening = script.bytes.count
        let payloads = (0..<48).map { [0x27, 1, 0, 0, 0] + [UInt8](repeating: $0, count: 100_000) }
        for payload in payloads { script.message(9, payload) }
        // The write ends when the room reads again and all bytes have left the publisher.
        let written: EventLoopFuture<Void> = publisher.writeAndFlush(ByteBuffer(bytes: script.bytes.dropFirst(opening)))
        let room = try #require(report.channel)
        try await room.setOption(.autoRead, value: true).get()
        try await written.get()
        // Not earlier: the answer to `publish` reaches the publisher before the edge forwards it.
        #expect(edge.counters.value.publishing == 1)
        // Only the sending side: an acknowledgement that arrives at a closed socket would discard what is on its way.
        try await publisher.close(mode: .output)
        try await room.closeFuture.get()
        // A difference of megabytes would take seconds to print.
        let isWhole = report.payloads == payloads
        #expect(isWhole, "\(report.payloads.count) messages of \(payloads.count)")
        #expect(edge.counters.value.bytes == UInt64(script.bytes.count - opening))
        #expect(edge.counters.value.publishing == 0)
        await edge.stop(within: 0)
        try await listener.close()
        try await group.shutdownGracefully()
    }
}
