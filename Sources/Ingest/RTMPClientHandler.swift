import Egress
import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
import RTMP

/// Who a client connection tells. Bound to the connection's event loop.
protocol RTMPClientOwner: AnyObject {
    /// The server has agreed.
    func ready(_ connection: RTMPClientHandler)
    /// What is played has arrived.
    func received(_ media: [RTMPMediaMessage], on connection: RTMPClientHandler)
    /// More may be written.
    func writable(_ connection: RTMPClientHandler)
    /// The connection is over or could not be made. Told once, and not after ``RTMPClientHandler/finish()``.
    func ended(_ connection: RTMPClientHandler, reason: String)
}

/// One connection to another server, as a publisher or as a player. Bound to its event loop.
final class RTMPClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let connectTimeout = TimeAmount.seconds(5)
    /// From the connection to the server's word.
    private static let setupTimeout = TimeAmount.seconds(10)
    /// `TCP_NOTSENT_LOWAT` of Linux, in bytes: the kernel takes no more than this ahead of the network, so that what is
    /// late is late where whole GOPs can be dropped.
    private static let notSentLowWater = (option: NIOBSDSocket.Option(rawValue: 25), bytes: 128 << 10)

    private var session: RTMPClientSession
    private weak var owner: (any RTMPClientOwner)?
    /// What a server may repeat and nobody shall see, the longest first.
    private let secrets: [String]
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var isOver = false

    init(url: RTMPURL, purpose: RTMPClientSession.Purpose, owner: any RTMPClientOwner) {
        self.session = RTMPClientSession(url: url, purpose: purpose)
        self.secrets = Self.secrets(of: url)
        self.owner = owner
    }

    /// Connects; what comes of it is told to the owner.
    ///
    /// - Parameter egress: Judges the server's address; `nil`: any address.
    static func connect(
        to url: RTMPURL, purpose: RTMPClientSession.Purpose, owner: any RTMPClientOwner, egress: EgressGate? = nil,
        on loop: any EventLoop
    ) -> RTMPClientHandler {
        let handler = RTMPClientHandler(url: url, purpose: purpose, owner: owner)
        let box = NIOLoopBound(handler, eventLoop: loop)
        ClientBootstrap(group: loop)
            .connectTimeout(Self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(
                .writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10)
            )
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 << 10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let egress {
                        try channel.pipeline.syncOperations.addHandler(
                            EgressHandler(egress, target: EgressPolicy.Target(url)))
                    }
                    try channel.pipeline.syncOperations.addHandler(box.value)
                }
            }
            .connect(host: url.host, port: url.port)
            .whenFailure { box.value.over("cannot connect to \(url.authority): \(Self.text($0))") }
        return handler
    }

    // MARK: The owner's side

    var isReady: Bool { self.session.isReady && !self.isOver }
    /// What the far side says it understands of Enhanced RTMP.
    var peer: EnhancedCapabilities { self.session.peer }
    /// False while the far side reads more slowly than is written.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// Writes one message without flushing.
    ///
    /// - Returns: Bytes written.
    func write(_ message: RTMPMediaMessage) -> Int { self.write(self.session.bytes(for: message)) }

    func write(metadata: [AMF0Property]) -> Int { self.write(self.session.bytes(forMetadata: metadata)) }

    func flush() { self.context?.flush() }

    /// Takes leave and closes, behind what is written.
    func finish() {
        guard !self.isOver else { return }
        self.isOver = true
        self.deadline?.cancel()
        guard let context = self.context else { return }
        _ = self.write(self.session.finish())
        context.flush()
        let channel = context.channel
        context.close(mode: .output, promise: nil)
        // The far side may never read: then the second it has is over.
        context.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }

    /// Back-pressure on a server that is played from.
    func setPaused(_ isPaused: Bool) { _ = self.context?.channel.setOption(.autoRead, value: !isPaused) }

    /// Gives the connection up.
    func fail(_ reason: String) { self.over(reason) }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelActive(context: ChannelHandlerContext) {
        guard !self.isOver else {
            context.close(promise: nil)
            return
        }
        #if os(Linux)
            // A kernel without it only keeps more.
            _ = context.channel.setOption(
                .tcpOption(Self.notSentLowWater.option), value: Self.notSentLowWater.bytes)
        #endif
        var random = SystemRandomNumberGenerator()
        _ = self.write(self.session.start(random: (0..<1528).map { _ in UInt8.random(in: 0...255, using: &random) }))
        context.flush()
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.deadline = context.eventLoop.scheduleTask(in: Self.setupTimeout) {
            if !box.value.session.isReady { box.value.over("the server did not agree within 10 s") }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isOver else { return }
        let buffer = self.unwrapInboundIn(data)
        let actions = self.session.receive(buffer.readableBytesUInt8Span)
        for action in actions where !self.isOver {
            switch action {
            case .send(let bytes):
                // A server that asks and does not read must not fill our memory with answers.
                if context.channel.isWritable || !self.session.isReady {
                    _ = self.write(bytes)
                    context.flush()
                }
            case .ready:
                self.deadline?.cancel()
                self.owner?.ready(self)
            case .failed(let failure):
                self.handOut()
                switch failure {
                case .rejected(let status):
                    self.over("the server says \(status.code.isEmpty ? "no" : status.code): \(status.text)")
                case .server(let failure): self.over("\(failure)")
                }
            }
        }
        self.handOut()
    }

    private func handOut() {
        let media = self.session.takeMedia()
        if !media.isEmpty, !self.isOver { self.owner?.received(media, on: self) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.owner?.writable(self) }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.over("the connection was closed")
        self.context = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.over(Self.text(error)) }

    private func write(_ bytes: [UInt8]) -> Int {
        guard let context = self.context, !bytes.isEmpty else { return 0 }
        context.write(self.wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
        return bytes.count
    }

    private func over(_ reason: String) {
        guard !self.isOver else { return }
        self.isOver = true
        self.deadline?.cancel()
        self.context?.close(promise: nil)
        self.owner?.ended(self, reason: self.presentable(reason))
    }

    /// Values of a query that are shorter say nothing.
    private static let shortestValue = 4

    /// The stream name with its query and without it, and the values of the query.
    private static func secrets(of url: RTMPURL) -> [String] {
        let parts = url.streamName.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.dropFirst().first ?? ""
        let values = query.split(separator: "&").compactMap { $0.split(separator: "=", maxSplits: 1).dropFirst().first }
        let all =
            [url.streamName, String(url.streamName.prefix { $0 != "?" })]
            + values.map(String.init).filter { $0.count >= Self.shortestValue }
        return all.filter { !$0.isEmpty }.sorted { $0.count > $1.count }
    }

    /// A far server's words: short, printable, and without the stream key and the query that it may repeat.
    private func presentable(_ reason: String) -> String {
        // Whole, since nobody would find what a cut has left of a secret; a message has 64 KiB at most.
        var text = String(
            String.UnicodeScalarView(reason.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
        for secret in self.secrets {
            text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "…")
        }
        return String(text.prefix(200))
    }

    private static func text(_ error: any Error) -> String {
        ConnectionFailure.text(error) ?? "\(error)"
    }
}
