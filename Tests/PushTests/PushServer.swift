import MediaKernels
import NIOCore
import NIOPosix
import NIOSSL
import RTMP
import Synchronization

/// An RTMP server on loopback, with or without TLS, that admits every publisher and records what arrives.
final class PushServer: Sendable {
    struct Seen: Sendable {
        /// Stream keys, in the order of the publications.
        var keys: [String] = []
        /// Payloads of audio and video messages.
        var media: [[UInt8]] = []
        var properties: [AMF0Property] = []
        var unpublished = 0
        /// Number of ended connections.
        var closed = 0
    }

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let state: SeenBox

    /// The recorded values, for any thread.
    final class SeenBox: Sendable {
        private let seen = Mutex((value: Seen(), open: [ObjectIdentifier: any Channel]()))

        var value: Seen { self.seen.withLock { $0.value } }
        func change(_ body: (inout Seen) -> Void) { self.seen.withLock { body(&$0.value) } }
        func opened(_ channel: any Channel) { self.seen.withLock { $0.open[ObjectIdentifier(channel)] = channel } }
        var channels: [any Channel] { self.seen.withLock { Array($0.open.values) } }
    }

    /// - Parameters:
    ///   - isMute: It accepts connections, ignores what arrives, and sends nothing.
    ///   - isDeaf: It admits every publisher, and reads nothing from then on.
    static func start(
        _ tls: NIOSSLContext? = nil, isMute: Bool = false, isDeaf: Bool = false
    ) async throws -> PushServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let state = SeenBox()
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Handler(state, isMute: isMute, isDeaf: isDeaf))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return PushServer(group: group, channel: channel, state: state)
    }

    private init(group: MultiThreadedEventLoopGroup, channel: any Channel, state: SeenBox) {
        self.group = group
        self.channel = channel
        self.state = state
    }

    var port: Int { self.channel.localAddress?.port ?? 0 }
    var seen: Seen { self.state.value }
    /// Number of connections so far.
    var connections: Int { self.state.channels.count }

    /// Closes every connection, like a restarted server.
    func dropAll() { for channel in self.state.channels { channel.close(promise: nil) } }

    func stop() async {
        try? await self.channel.close().get()
        try? await self.group.shutdownGracefully()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var session = RTMPServerSession(now: 0, random: [UInt8](repeating: 0xAB, count: 1528))
        private let state: SeenBox
        private let isMute: Bool
        private let isDeaf: Bool

        init(_ state: SeenBox, isMute: Bool, isDeaf: Bool) {
            self.state = state
            self.isMute = isMute
            self.isDeaf = isDeaf
        }

        func channelActive(context: ChannelHandlerContext) { self.state.opened(context.channel) }

        func channelInactive(context: ChannelHandlerContext) { self.state.change { $0.closed += 1 } }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if self.isMute { return }
            let buffer = self.unwrapInboundIn(data)
            self.perform(self.session.receive(buffer.readableBytesUInt8Span, now: 0), context)
        }

        private func perform(_ actions: [RTMPServerAction], _ context: ChannelHandlerContext) {
            for action in actions {
                switch action {
                case .send(let bytes):
                    context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
                case .publishRequested(let request):
                    self.state.change { $0.keys.append(request.address.key(app: "live") ?? "?") }
                    self.perform(self.session.decide(.accept, on: request.id, now: 0), context)
                    if self.isDeaf { context.channel.setOption(.autoRead, value: false).whenFailure { _ in } }
                case .metadata(let properties): self.state.change { $0.properties = properties }
                case .message(let message):
                    let bytes = message.payload.bytes
                    self.state.change { $0.media.append(bytes) }
                case .unpublished: self.state.change { $0.unpublished += 1 }
                case .wallClock, .data: break
                case .close: context.close(promise: nil)
                }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
