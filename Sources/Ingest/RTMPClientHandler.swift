import Egress
import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
import RTMP

/// Receives the events of a client connection. Bound to the connection's event loop.
protocol RTMPClientOwner: AnyObject {
    /// The server has accepted the publish or play request.
    func ready(_ connection: RTMPClientHandler)
    /// Media of the played stream has arrived.
    func received(_ media: [RTMPMediaMessage], on connection: RTMPClientHandler)
    /// The connection can accept more data after it was full.
    func writable(_ connection: RTMPClientHandler)
    /// The connection ended or could not be made. Called once, and not after ``RTMPClientHandler/finish()``.
    func ended(_ connection: RTMPClientHandler, reason: String)
}

/// One connection to another server, as a publisher or as a player. Bound to its event loop.
final class RTMPClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let connectTimeout = TimeAmount.seconds(5)
    /// Time limit from the established TCP connection until the server accepts the publish or play request.
    private static let setupTimeout = TimeAmount.seconds(10)
    /// `TCP_NOTSENT_LOWAT` of Linux, in bytes. The kernel buffers at most this much unsent data, so that a backlog
    /// forms in our own queue, where whole GOPs can be dropped.
    private static let notSentLowWater = (option: NIOBSDSocket.Option(rawValue: 25), bytes: 128 << 10)

    private var session: RTMPClientSession
    private weak var owner: (any RTMPClientOwner)?
    /// Secret parts of the URL, longest first. They are removed from the server's messages before the messages are
    /// shown.
    private let secrets: [String]
    private var context: ChannelHandlerContext?
    private var deadline: Scheduled<Void>?
    private var isOver = false

    init(url: RTMPURL, purpose: RTMPClientSession.Purpose, owner: any RTMPClientOwner) {
        self.session = RTMPClientSession(url: url, purpose: purpose)
        self.secrets = Self.secrets(of: url)
        self.owner = owner
    }

    /// Starts to connect; the result is reported to the owner.
    ///
    /// - Parameter egress: Checks whether the server's address is allowed; `nil`: any address is.
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

    // MARK: Calls from the owner

    var isReady: Bool { self.session.isReady && !self.isOver }
    /// Enhanced RTMP features that the server supports.
    var peer: EnhancedCapabilities { self.session.peer }
    /// False while the server reads more slowly than data is written.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// Writes one message without flushing.
    ///
    /// - Returns: Bytes written.
    func write(_ message: RTMPMediaMessage) -> Int { self.write(self.session.bytes(for: message)) }

    func write(metadata: [AMF0Property]) -> Int { self.write(self.session.bytes(forMetadata: metadata)) }

    func flush() { self.context?.flush() }

    /// Ends the stream and closes the connection after everything written so far.
    func finish() {
        guard !self.isOver else { return }
        self.isOver = true
        self.deadline?.cancel()
        guard let context = self.context else { return }
        _ = self.write(self.session.finish())
        context.flush()
        let channel = context.channel
        context.close(mode: .output, promise: nil)
        // The server may never read, so the connection is closed after one second in any case.
        context.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }

    /// Stops or resumes reading from a server whose stream is played.
    func setPaused(_ isPaused: Bool) { _ = self.context?.channel.setOption(.autoRead, value: !isPaused) }

    /// Closes the connection and reports `reason` to the owner as its failure.
    func fail(_ reason: String) { self.over(reason) }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelActive(context: ChannelHandlerContext) {
        guard !self.isOver else {
            context.close(promise: nil)
            return
        }
        #if os(Linux)
            // A kernel without this option only buffers more.
            _ = context.channel.setOption(
                .tcpOption(Self.notSentLowWater.option), value: Self.notSentLowWater.bytes)
        #endif
        var random = SystemRandomNumberGenerator()
        _ = self.write(self.session.start(random: (0..<1528).map { _ in UInt8.random(in: 0...255, using: &random) }))
        context.flush()
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.deadline = context.eventLoop.scheduleTask(in: Self.setupTimeout) {
            if !box.value.session.isReady { box.value.over("the server did not accept the stream within 10 s") }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isOver else { return }
        let buffer = self.unwrapInboundIn(data)
        let actions = self.session.receive(buffer.readableBytesUInt8Span)
        for action in actions where !self.isOver {
            switch action {
            case .send(let bytes):
                // A server that sends requests and does not read must not fill our memory with answers.
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

    /// Minimum length of a query value that counts as a secret; shorter ones are too common to hide.
    private static let shortestValue = 4

    /// Returns the parts of the URL that may hold a stream key or token: the stream name with and without its query,
    /// and the values of the query.
    private static func secrets(of url: RTMPURL) -> [String] {
        let parts = url.streamName.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.dropFirst().first ?? ""
        let values = query.split(separator: "&").compactMap { $0.split(separator: "=", maxSplits: 1).dropFirst().first }
        let all =
            [url.streamName, String(url.streamName.prefix { $0 != "?" })]
            + values.map(String.init).filter { $0.count >= Self.shortestValue }
        return all.filter { !$0.isEmpty }.sorted { $0.count > $1.count }
    }

    /// Makes a server's message fit to show: short, printable, without the stream key and query values that it may
    /// repeat.
    private func presentable(_ reason: String) -> String {
        // Secrets are removed before truncation, because a truncated secret would not be found. A message has at most
        // 64 KiB.
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
