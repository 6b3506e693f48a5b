import MediaTypes
import NIOCore
import NIOPosix
import WebRTC

/// The process's monotonic clock.
struct SystemClock: MonotonicClock {
    private static let start = ContinuousClock.now

    func now() -> Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - Self.start).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000 + 1_000_000_000
    }
}

/// A viewer over a loopback socket, of UDP or TCP.
final class LoopbackViewer: Sendable {
    /// What the viewer has received, and whether its session or connection has ended.
    typealias State = (frames: Int, audioPackets: Int, isClosed: Bool)

    /// The packets of the socket.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let viewer: TestViewer
        let isTCP: Bool
        let changed: @Sendable (State) -> Void
        private var stream = FramedStream()
        private var context: ChannelHandlerContext?

        init(_ viewer: TestViewer, isTCP: Bool, _ changed: @escaping @Sendable (State) -> Void) {
            (self.viewer, self.isTCP, self.changed) = (viewer, isTCP, changed)
        }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
        func channelInactive(context: ChannelHandlerContext) { self.tell(isClosed: true) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = self.unwrapInboundIn(data).readableBytesView
            guard self.isTCP else { return self.receive(Array(bytes)) }
            self.stream.append(bytes)
            while case .packet(let packet) = self.stream.next() { self.receive(packet) }
        }

        private func receive(_ packet: [UInt8]) {
            let now = SystemClock().now()
            self.send(self.viewer.receive(packet, now: now) + self.viewer.advance(to: now))
            self.tell(isClosed: self.viewer.isClosed)
        }

        private func tell(isClosed: Bool) {
            self.changed((self.viewer.frames.count, self.viewer.audioPackets.count, isClosed))
        }

        func send(_ packets: [[UInt8]]) {
            for packet in packets {
                self.write(self.isTCP ? FramedStream.frame(packet) ?? [] : packet)
            }
        }

        func write(_ bytes: [UInt8]) {
            self.context?.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    private let channel: any Channel
    private let handler: NIOLoopBound<Handler>
    /// Calls of ``until(_:)`` wait for the next one of these.
    private let states: AsyncStream<State>

    init(answer: String, isTCP: Bool = false) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (states, source) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.states = states
        let (handler, port) = try await loop.submit {
            let viewer = TestViewer()
            try viewer.accept(answer: answer)
            return (
                NIOLoopBound(Handler(viewer, isTCP: isTCP) { source.yield($0) }, eventLoop: loop), viewer.port
            )
        }.get()
        self.handler = handler
        @Sendable func begin(_ channel: any Channel) -> EventLoopFuture<Void> {
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
        }
        if isTCP {
            self.channel = try await ClientBootstrap(group: loop)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.socketOption(.so_rcvbuf), value: 8192)
                .channelInitializer(begin)
                .connect(host: "127.0.0.1", port: port).get()
        } else {
            self.channel = try await DatagramBootstrap(group: loop)
                .channelInitializer { channel in
                    begin(channel).flatMapThrowing {
                        try channel.pipeline.syncOperations.addHandler(
                            EnvelopeHandler(SocketAddress(ipAddress: "127.0.0.1", port: port)), position: .first)
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }
    }

    /// Gives the datagrams of a socket without their sender on, and sends all to one address.
    private final class EnvelopeHandler: ChannelInboundHandler, ChannelOutboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias InboundOut = ByteBuffer
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        private let remote: SocketAddress

        init(_ remote: SocketAddress) { self.remote = remote }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.fireChannelRead(self.wrapInboundOut(self.unwrapInboundIn(data).data))
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let envelope = AddressedEnvelope(remoteAddress: self.remote, data: self.unwrapOutboundIn(data))
            context.write(self.wrapOutboundOut(envelope), promise: promise)
        }
    }

    func run<Value: Sendable>(_ body: @escaping @Sendable (TestViewer) -> Value) async throws -> Value {
        try await self.channel.eventLoop.submit { [handler] in body(handler.value.viewer) }.get()
    }

    func check(password: String? = nil) async throws {
        try await self.channel.eventLoop.submit { [handler] in
            handler.value.send([handler.value.viewer.check(password: password)])
        }.get()
    }

    /// Writes bytes as they are.
    func write(_ bytes: [UInt8]) async throws {
        try await self.channel.eventLoop.submit { [handler] in handler.value.write(bytes) }.get()
    }

    /// Reads what arrives, or leaves it to the system.
    func setReading(_ isReading: Bool) async throws {
        try await self.channel.setOption(.autoRead, value: isReading).get()
    }

    /// Waits until the viewer has received something for which the condition is true.
    func until(_ isEnough: (_ frames: Int, _ audioPackets: Int, _ isClosed: Bool) -> Bool) async {
        for await state in self.states where isEnough(state.frames, state.audioPackets, state.isClosed) { return }
    }

    func leave() async throws { try await self.channel.close().get() }
}
