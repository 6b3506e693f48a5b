import Egress
import MediaTypes
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PipelineSpec

/// Performs the actions of a ``PushCore``: the connections of one output, one after another. Bound to the outputs'
/// event loop.
final class PushDriver {
    private static let pace = TimeAmount.milliseconds(250)
    private static let connectTimeout = TimeAmount.seconds(4)
    /// Time limit for sending the end of the publication before the connection is closed, because the server may never
    /// read.
    private static let leave = TimeAmount.milliseconds(900)
    /// `TCP_NOTSENT_LOWAT` of Linux, in bytes. The kernel buffers at most this much unsent data, so that a backlog
    /// forms in our own queue, where whole GOPs can be dropped, and a server that does not read is noticed soon.
    private static let notSentLowWater = (option: NIOBSDSocket.Option(rawValue: 25), bytes: 32 << 10)

    private let output: PushOutput
    private let tls: NIOSSLContext?
    private let egress: EgressGate?
    private let clock: any MonotonicClock
    private let loop: any EventLoop
    private let emit: @Sendable (PushStatus, PushCore.Event) -> Void
    private var core: PushCore
    /// Number of the current connection; reports of earlier connections are ignored.
    private var connection = 0
    private var channel: (any Channel)?
    private var timer: RepeatedTask?

    init(
        output: PushOutput, core: PushCore.Settings, tls: NIOSSLContext?, egress: EgressGate?,
        clock: any MonotonicClock, loop: any EventLoop, events: @escaping @Sendable (PushStatus, PushCore.Event) -> Void
    ) {
        self.output = output
        self.core = PushCore(core) { .random(in: 0 ... .max) }
        self.tls = tls
        self.egress = egress
        self.clock = clock
        self.loop = loop
        self.emit = events
    }

    func start() {
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.timer = self.loop.scheduleRepeatedTask(initialDelay: Self.pace, delay: Self.pace) { _ in
            let driver = box.value
            driver.perform(driver.core.tick(now: driver.clock.now()))
        }
    }

    /// Ends the publication and closes the connection.
    ///
    /// - Returns: A future that completes when the connection, if there was one, is closed.
    func stop(reason: String) -> EventLoopFuture<Void> {
        self.timer?.cancel()
        self.timer = nil
        let closed = self.channel?.closeFuture
        self.perform(self.core.stop(reason: reason, now: self.clock.now()))
        return closed ?? self.loop.makeSucceededVoidFuture()
    }

    func receive(_ tags: [LiveTag], now: Int64) {
        for tag in tags { self.perform(self.core.push(tag, now: now), shows: false) }
        self.show()
    }

    // MARK: Connections

    /// Stores the channel of the open socket. The TLS handshake may still follow, and the server may never answer it.
    fileprivate func opened(_ connection: Int, _ channel: any Channel) {
        guard connection == self.connection else { return channel.close(promise: nil) }
        self.channel = channel
    }

    /// Begins the RTMP handshake on a connection that is ready for data: after the TLS handshake, or without TLS as
    /// soon as the socket is connected.
    fileprivate func connected(_ connection: Int) {
        guard connection == self.connection else { return }
        self.perform(self.core.connected(now: self.clock.now()))
    }

    fileprivate func received(_ connection: Int, _ bytes: ByteBuffer) {
        guard connection == self.connection else { return }
        self.perform(self.core.receive(bytes.readableBytesUInt8Span, now: self.clock.now()))
    }

    fileprivate func disconnected(_ connection: Int, _ reason: String) {
        guard connection == self.connection else { return }
        self.perform(self.core.disconnected(reason, now: self.clock.now()))
    }

    private func flushed(_ connection: Int, _ count: Int) {
        guard connection == self.connection else { return }
        self.perform(self.core.flushed(count, now: self.clock.now()), shows: false)
    }

    // MARK: Actions

    private func perform(_ actions: [PushCore.Action], shows: Bool = true) {
        for action in actions {
            switch action {
            case .connect(let url): self.connect(to: url)
            case .send(let bytes): self.write(bytes)
            case .begin: self.receive(self.output.feed.backlog, now: self.clock.now())
            case .finish: self.finish()
            case .close: self.close()
            case .report(let event):
                self.show()
                self.emit(self.output.status, event)
            }
        }
        if shows { self.show() }
    }

    private func connect(to url: RTMPURL) {
        self.connection += 1
        let number = self.connection
        let box = NIOLoopBound(self, eventLoop: self.loop)
        let tls = url.isSecure ? self.tls : nil
        let egress = self.egress
        guard url.isSecure == (tls != nil) else {
            // The server redirects to TLS, but the output is configured without it.
            self.loop.execute { box.value.disconnected(number, "the server redirects to TLS; use rtmps:// in `url`") }
            return
        }
        ClientBootstrap(group: self.loop)
            .connectTimeout(Self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 8 << 10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // The check also applies to redirect targets.
                    if let egress {
                        try channel.pipeline.syncOperations.addHandler(
                            EgressHandler(egress, target: EgressPolicy.Target(url)))
                    }
                    if let tls {
                        // An IP address cannot be sent as the server name; the certificate must name the address.
                        let isName = (try? SocketAddress(ipAddress: url.host, port: 0)) == nil
                        try channel.pipeline.syncOperations.addHandler(
                            try NIOSSLClientHandler(context: tls, serverHostname: isName ? url.host : nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        PushChannelHandler(driver: box.value, connection: number, isSecure: tls != nil))
                }
            }
            .connect(host: url.host, port: url.port)
            .whenFailure { error in
                box.value.disconnected(
                    number, "cannot connect to \(url.host):\(url.port): \(PushChannelHandler.text(error))")
            }
    }

    private func write(_ bytes: [UInt8]) {
        guard let channel = self.channel else { return }
        let (number, count) = (self.connection, bytes.count)
        let box = NIOLoopBound(self, eventLoop: self.loop)
        channel.writeAndFlush(channel.allocator.buffer(bytes: bytes)).whenSuccess { box.value.flushed(number, count) }
    }

    /// Closes the connection after everything written so far.
    private func finish() {
        guard let channel = self.channel else { return }
        self.channel = nil
        self.connection += 1
        // When the last bytes are written, or after the timeout, whichever comes first.
        let written = channel.writeAndFlush(channel.allocator.buffer(capacity: 0))
        written.whenComplete { _ in channel.close(mode: .output, promise: nil) }
        self.loop.scheduleTask(in: Self.leave) { channel.close(promise: nil) }
    }

    private func close() {
        self.connection += 1
        self.channel?.close(promise: nil)
        self.channel = nil
    }

    private func show() {
        let (state, bytes, acknowledged) = (self.core.state, self.core.bytes, self.core.acknowledged)
        let (dropped, queued, retries) = (self.core.dropped, self.core.queued, self.core.retries)
        let (error, failure) = (self.core.lastError, self.core.lastFailure)
        self.output.show { status in
            status.state = state
            status.bytes = bytes
            status.acknowledged = acknowledged
            status.dropped = dropped
            status.queuedMs = queued
            status.retries = retries
            status.lastError = error
            status.lastFailure = failure
        }
    }

    fileprivate static func setLowWater(_ channel: any Channel) {
        #if os(Linux)
            // A kernel without this option only buffers more.
            _ = channel.setOption(.tcpOption(self.notSentLowWater.option), value: self.notSentLowWater.bytes)
        #endif
    }
}

/// Reports the events of one connection to the driver.
private final class PushChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let driver: PushDriver
    private let connection: Int
    private let isSecure: Bool
    private var isOver = false

    init(driver: PushDriver, connection: Int, isSecure: Bool) {
        self.driver = driver
        self.connection = connection
        self.isSecure = isSecure
    }

    func channelActive(context: ChannelHandlerContext) {
        PushDriver.setLowWater(context.channel)
        self.driver.opened(self.connection, context.channel)
        if !self.isSecure { self.driver.connected(self.connection) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            self.driver.connected(self.connection)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.driver.received(self.connection, self.unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.over("the connection was closed")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.over(Self.text(error))
        context.close(promise: nil)
    }

    private func over(_ reason: String) {
        guard !self.isOver else { return }
        self.isOver = true
        self.driver.disconnected(self.connection, reason)
    }

    static func text(_ error: any Error) -> String {
        switch error {
        case NIOSSLError.handshakeFailed(let cause):
            "\(cause)".contains("CERTIFICATE_VERIFY_FAILED")
                ? "the server's certificate is not signed by a trusted authority" : "TLS failed: \(cause)"
        case is NIOSSLExtraError: "the server's certificate is for another host"
        default: ConnectionFailure.text(error) ?? "\(error)"
        }
    }
}
