import MediaKernels
import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import RTMP

/// Tandem's own client on a real socket.
final class TestPublisher: Sendable {
    enum Outcome: Sendable, Hashable {
        case ready
        case failed(RTMPClientFailure)
        /// The server has closed the connection.
        case closed
    }

    private let channel: any Channel
    private let handler: NIOLoopBound<Handler>
    let outcomes: Recorder<Outcome>
    /// The server's leaf certificate, with TLS.
    let certificate: Recorder<[UInt8]>

    private init(
        channel: any Channel, handler: NIOLoopBound<Handler>, outcomes: Recorder<Outcome>,
        certificate: Recorder<[UInt8]>
    ) {
        self.channel = channel
        self.handler = handler
        self.outcomes = outcomes
        self.certificate = certificate
    }

    /// - Parameters:
    ///   - tls: The only TLS version to offer, without checking certificates; nil: no TLS.
    ///   - name: The server name for TLS; nil: none.
    ///   - prefix: Bytes sent before everything else.
    static func connect(
        _ text: String, tls: TLSVersion? = nil, name: String? = nil, prefix: [UInt8] = []
    ) async throws -> TestPublisher {
        let certificate = Recorder<[UInt8]>()
        var secure: NIOSSLContext?
        if let tls {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.certificateVerification = .none
            configuration.minimumTLSVersion = tls
            configuration.maximumTLSVersion = tls
            secure = try NIOSSLContext(configuration: configuration)
        }
        let context = secure
        guard let url = RTMPURL(text) else { throw RTMPFailure.protocolViolation(.malformedCommand) }
        let outcomes = Recorder<Outcome>()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        // Kept from the start: a server that refuses may have closed the channel before `connect` has returned.
        let made = loop.makePromise(of: NIOLoopBound<Handler>.self)
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = Handler(url: url, outcomes: outcomes)
                        made.succeed(NIOLoopBound(handler, eventLoop: channel.eventLoop))
                        if !prefix.isEmpty {
                            try channel.pipeline.syncOperations.addHandler(PrefixHandler(prefix))
                        }
                        if let context {
                            let client = try NIOSSLClientHandler(
                                context: context, serverHostname: name,
                                customVerificationCallback: { chain, promise in
                                    if let bytes = try? chain.first?.toDERBytes() { certificate.append(bytes) }
                                    promise.succeed(.certificateVerified)
                                })
                            try channel.pipeline.syncOperations.addHandler(client)
                        }
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                }
                .connect(host: url.host, port: url.port).get()
            return TestPublisher(
                channel: channel, handler: try await made.futureResult.get(), outcomes: outcomes,
                certificate: certificate)
        } catch {
            made.fail(error)
            throw error
        }
    }

    /// Connects and waits for the server's answer.
    static func publish(
        _ text: String, tls: TLSVersion? = nil, name: String? = nil, prefix: [UInt8] = []
    ) async throws -> TestPublisher {
        let publisher = try await self.connect(text, tls: tls, name: name, prefix: prefix)
        await publisher.outcomes.wait { !$0.isEmpty }
        return publisher
    }

    func send(_ message: RTMPMediaMessage) async throws {
        try await self.channel.eventLoop.flatSubmit { [handler, channel] in
            channel.writeAndFlush(ByteBuffer(bytes: handler.value.session.bytes(for: message)))
        }.get()
    }

    /// Ends the publication properly.
    func finish() async throws {
        try await self.channel.eventLoop.flatSubmit { [handler, channel] in
            channel.writeAndFlush(ByteBuffer(bytes: handler.value.session.finish()))
        }.get()
    }

    /// Closes the connection without notice.
    func drop() async throws { try await self.channel.close().get() }

    /// Sends a GOP of tiny frames with audio, from `start` milliseconds on.
    func sendMedia(from start: UInt32 = 0, configurations: Bool = true) async throws {
        if configurations {
            try await self.send(Tags.video(0, Tags.record, at: 0))
            try await self.send(Tags.audio(0, [0x11, 0x90], at: 0))
        }
        try await self.send(Tags.video(1, Tags.unit([0x65, 1, 2, 3]), at: start))
        try await self.send(Tags.audio(1, [0x21, 0x10], at: start))
        try await self.send(Tags.video(1, Tags.unit([0x41, 4, 5]), at: start &+ 33))
    }

    /// Sends some bytes as soon as the connection is open.
    private final class PrefixHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: self.bytes)), promise: nil)
            context.fireChannelActive()
        }
    }

    fileprivate final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        var session: RTMPClientSession
        private let outcomes: Recorder<Outcome>

        init(url: RTMPURL, outcomes: Recorder<Outcome>) {
            self.session = RTMPClientSession(url: url)
            self.outcomes = outcomes
        }

        func channelActive(context: ChannelHandlerContext) {
            let hello = self.session.start(random: [UInt8](repeating: 5, count: 1528))
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: hello)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = self.unwrapInboundIn(data)
            for action in self.session.receive(buffer.readableBytesUInt8Span) {
                switch action {
                case .send(let bytes):
                    context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
                case .ready: self.outcomes.append(.ready)
                case .failed(let failure): self.outcomes.append(.failed(failure))
                }
            }
        }

        func channelInactive(context: ChannelHandlerContext) { self.outcomes.append(.closed) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// FLV tag bodies for tests.
enum Tags {
    static let record: [UInt8] = [
        1, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0, 5, 0x67, 0x42, 0xC0, 0x1E, 0x99, 1, 0, 3, 0x68, 0xCE, 0x3C,
    ]

    static func unit(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }

    static func video(_ type: UInt8, _ body: [UInt8], at time: UInt32) -> RTMPMediaMessage {
        RTMPMediaMessage(kind: .video, timestamp: time, payload: PacketMemory([0x17, type, 0, 0, 0] + body))
    }

    static func audio(_ type: UInt8, _ body: [UInt8], at time: UInt32) -> RTMPMediaMessage {
        RTMPMediaMessage(kind: .audio, timestamp: time, payload: PacketMemory([0xAF, type] + body))
    }
}
