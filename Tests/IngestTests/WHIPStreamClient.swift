import NIOCore
import NIOPosix
import WebRTC

/// A WebRTC peer over TCP (RFC 4571 framing) for a session that ``WHIPClient`` has created.
final class WHIPStreamClient: Sendable {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let peer: WebRTCPeer
        let outcomes: Recorder<WHIPClient.Outcome>
        /// Bytes of each write; 0: all at once.
        let pieces: Int
        private var stream = FramedStream()
        private var context: ChannelHandlerContext?

        init(_ peer: WebRTCPeer, _ outcomes: Recorder<WHIPClient.Outcome>, pieces: Int) {
            self.peer = peer
            self.outcomes = outcomes
            self.pieces = pieces
        }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
        func channelInactive(context: ChannelHandlerContext) { self.outcomes.append(.disconnected) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.stream.append(self.unwrapInboundIn(data).readableBytesView)
            while case .packet(let packet) = self.stream.next() {
                let (wasConnected, wasClosed) = (self.peer.isConnected, self.peer.isClosed)
                self.send(self.peer.receive(packet))
                if self.peer.isConnected, !wasConnected { self.outcomes.append(.connected) }
                if self.peer.isClosed, !wasClosed { self.outcomes.append(.closed) }
            }
        }

        func send(_ packets: [[UInt8]]) { self.write(packets.flatMap { FramedStream.frame($0) ?? [] }) }

        func write(_ bytes: [UInt8]) {
            let size = self.pieces == 0 ? max(1, bytes.count) : self.pieces
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
                self.context?.writeAndFlush(self.wrapOutboundOut(piece), promise: nil)
            }
        }
    }

    let outcomes: Recorder<WHIPClient.Outcome>
    private let channel: any Channel
    private let handler: NIOLoopBound<Handler>

    private init(outcomes: Recorder<WHIPClient.Outcome>, channel: any Channel, handler: NIOLoopBound<Handler>) {
        self.outcomes = outcomes
        self.channel = channel
        self.handler = handler
    }

    /// Connects to the port of the answer.
    static func open(_ answer: String, pieces: Int = 0) async throws -> WHIPStreamClient {
        let outcomes = Recorder<WHIPClient.Outcome>()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (handler, port) = try await loop.submit {
            let peer = WebRTCPeer()
            try peer.accept(answer: answer)
            return (NIOLoopBound(Handler(peer, outcomes, pieces: pieces), eventLoop: loop), peer.port)
        }.get()
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_rcvbuf), value: 8192)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler.value)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return WHIPStreamClient(outcomes: outcomes, channel: channel, handler: handler)
    }

    private func run(_ body: @escaping @Sendable (Handler) -> Void) async throws {
        try await self.channel.eventLoop.submit { [handler] in body(handler.value) }.get()
    }

    func check(password: String? = nil) async throws {
        try await self.run { $0.send([$0.peer.check(password: password)]) }
    }

    func sendMedia() async throws {
        try await self.run { $0.send($0.peer.videoFrame(isKey: true) + [$0.peer.audioPacket()]) }
    }

    func write(_ bytes: [UInt8]) async throws { try await self.run { $0.write(bytes) } }

    /// Sends the same check many times, and reads nothing from now on.
    func flood(checks: Int) async throws {
        try await self.channel.setOption(.autoRead, value: false).get()
        try await self.run { handler in
            let check = handler.peer.check()
            handler.send([[UInt8]](repeating: check, count: checks))
        }
    }

    func close() async throws { try await self.channel.close().get() }
}
