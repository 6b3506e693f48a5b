import Ingest
import Libc
import Logging
import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
import RTMP

/// Performs the actions of one publisher's ``EdgeSession``: the publisher's connection, and the one to its room.
///
/// States: open → closing (the session is closed; input is discarded, and the peer has one second to read the status) →
/// inactive.
final class EdgePublisherHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let lingering = TimeAmount.seconds(1)
    /// Maximum number of bytes of one read while forwarding.
    private static let readBytes = 256 << 10
    /// A connection is not read any more at a turn that has brought this many bytes, so that one fast publisher does not delay
    /// the others.
    private static let turnBytes = 1 << 20
    /// Maximum number of reads of one connection at one turn: a read through the pipe can be small although the socket has
    /// more.
    private static let mostReads = 16
    /// A room that acknowledges none of the bytes sent to it for this time counts as gone, in milliseconds. The kernel alone
    /// would try for a quarter of an hour.
    private static let userTimeout: SocketOptionValue = 15_000

    let core: EdgeCore
    let number: Int
    private var session: EdgeSession
    private var context: ChannelHandlerContext?
    private var remote: String
    private var address: IPAddress?
    private var port: Int
    private var logger: Logger
    private var progress = 0
    private var isClosing = false
    private(set) var isForwarding = false
    private var location: RoomLocation?
    private var link: RoomLink?
    /// Number of the last attempt to connect to a room; events of earlier ones are ignored.
    private var attempt = 0
    /// Bytes that the channel has read since the last turn, while forwarding.
    private var sinceTurn = 0
    private var secondRead = SecondRead()
    /// The publisher's socket, if it can be read directly; nil with TLS.
    private var socket: NIOBSDSocket.Handle?
    private let isSecure: Bool
    private var bytes: UInt64 = 0
    private var timer: Scheduled<Void>?
    private var timerDue = Int64.max

    init(core: EdgeCore, remote: String, address: IPAddress?, port: Int, isSecure: Bool, random: [UInt8]) {
        self.core = core
        self.number = core.number()
        self.remote = remote
        self.address = address
        self.port = port
        self.isSecure = isSecure
        self.session = EdgeSession(settings: core.settings.session, now: core.clock.now(), random: random)
        self.logger = core.logger
        self.logger[metadataKey: "remote"] = "\(remote)"
    }

    var lookupNames: [String] { self.session.lookupNames }

    // MARK: The publisher's channel

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        self.core.counters.update {
            $0.accepted += 1
            $0.connections += 1
        }
        // All clients of a proxy share its address, so it is not used for limits.
        self.core.opened(self, from: self.core.isProxy(self.address) ? nil : self.address)
        self.armTimer()
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let proxied = event as? ProxyHeaderHandler.Proxied, let address = proxied.address {
            self.address = address
            self.port = proxied.port
            self.remote = address.isIPv4 ? "\(address):\(proxied.port)" : "[\(address)]:\(proxied.port)"
            self.logger[metadataKey: "remote"] = "\(self.remote)"
            self.core.opened(self, from: address)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isClosing else { return }
        var buffer = self.unwrapInboundIn(data)
        if self.isForwarding {
            self.sinceTurn += buffer.readableBytes
            self.pass(&buffer)
            // Without a timer the channel reads by itself, except while bytes wait to be sent to the room.
            if self.core.settings.readDelay <= 0, self.link?.pending ?? 0 > 0 { self.setReading(false) }
            return
        }
        self.perform(self.session.receive(buffer.readableBytesUInt8Span, now: self.core.clock.now()))
        if self.session.progress > self.progress {
            self.progress = self.session.progress
            self.core.advanced(self)
        }
        self.armTimer()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // A publisher that does not read its acknowledgements must not fill the memory with them.
        self.link?.channel.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        let wasClosing = self.isClosing
        self.isClosing = true
        self.perform(self.session.publisherClosed())
        self.endForwarding()
        if !wasClosing, self.session.address != nil {
            self.log(.info, "publisher disconnected", "closed by the encoder")
        }
        self.core.closed(self)
        self.core.counters.update { $0.connections -= 1 }
        self.context = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    /// Drops the connection: it does not publish and there are too many connections.
    func crowdedOut() {
        guard !self.isClosing else { return }
        self.isClosing = true
        self.core.counters.update { $0.crowded += 1 }
        self.logger.debug(
            "connection dropped", metadata: ["reason": "there are too many connections that do not publish"])
        self.context?.close(promise: nil)
    }

    /// Ends the connection because the edge stops.
    func stop() { self.perform(self.session.close(.stopped)) }

    // MARK: Actions

    private func perform(_ actions: [EdgeAction]) {
        for action in actions {
            switch action {
            case .sendToPublisher(let bytes): self.send(bytes)
            case .sendToRoom(let bytes): self.link?.write(ByteBuffer(bytes: bytes))
            case .pausePublisher: self.setReading(false)
            case .lookUp(let names): self.look(names)
            case .connect(let location): self.connect(to: location)
            case .forward: self.beginForwarding()
            case .closeRoom: self.closeRoom()
            case .close(let reason): self.close(reason)
            }
        }
    }

    private func send(_ bytes: [UInt8]) {
        guard let context = self.context else { return }
        context.writeAndFlush(self.wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    private func setReading(_ reads: Bool) {
        self.context?.channel.setOption(.autoRead, value: reads).whenFailure { _ in }
    }

    private func look(_ names: [String]) {
        self.core.look(names) { [weak self] lookup in self?.found(lookup) }
    }

    private func found(_ lookup: KeyDirectory.Lookup) {
        guard !self.isClosing else { return }
        let found: EdgeSession.LookupResult
        switch lookup {
        case .found(let location): found = .room(location)
        case .unknown:
            self.core.denied(self)
            found = .unknown(explains: self.core.explains(to: self.address))
        case .failed(let reason):
            self.core.counters.update { $0.failedLookups += 1 }
            self.logger.warning("the key directory cannot be used", metadata: ["reason": "\(reason)"])
            found = .failed
        }
        self.perform(self.session.found(found, now: self.core.clock.now()))
        self.armTimer()
    }

    // MARK: The room

    private func connect(to location: RoomLocation) {
        self.location = location
        self.attempt += 1
        let attempt = self.attempt
        let own = self.context?.channel.localAddress
        self.session.proxyHeader =
            self.core.settings.sendsProxyHeader
            ? ProxyText.header(
                source: self.address, port: self.port, target: own?.ipAddress.flatMap { IPAddress($0) },
                targetPort: own?.port ?? 0) : []
        let box = NIOLoopBound(self, eventLoop: self.core.loop)
        let timeout = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT))
        ClientBootstrap(group: self.core.loop)
            .connectTimeout(.nanoseconds(self.core.settings.session.connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(timeout, value: Self.userTimeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RoomHandler(box.value, attempt: attempt))
                }
            }
            .connect(host: location.host, port: Int(location.port))
            .whenComplete { box.value.connected($0, attempt: attempt) }
    }

    private func connected(_ result: Result<any Channel, any Error>, attempt: Int) {
        let isCurrent = attempt == self.attempt && !self.isClosing
        switch result {
        case .success(let channel):
            guard isCurrent else { return channel.close(promise: nil) }
            let link = RoomLink(channel)
            link.drained = { [weak self] in self?.roomDrained() }
            self.link = link
            self.perform(self.session.roomConnected(now: self.core.clock.now()))
        case .failure(let error):
            self.core.counters.update { $0.failedConnects += 1 }
            guard isCurrent else { return }
            self.logger.debug("cannot connect to the room", metadata: ["error": "\(error)"])
            self.perform(self.session.roomClosed(now: self.core.clock.now()))
        }
        self.armTimer()
    }

    func roomSent(_ buffer: ByteBuffer, attempt: Int) {
        guard attempt == self.attempt, !self.isClosing else { return }
        self.perform(self.session.receiveFromRoom(buffer.readableBytesUInt8Span))
        self.armTimer()
    }

    func roomClosed(attempt: Int) {
        guard attempt == self.attempt, !self.isClosing, self.link != nil else { return }
        self.link = nil
        self.perform(self.session.roomClosed(now: self.core.clock.now()))
        self.armTimer()
    }

    private func closeRoom() {
        // Events of this connection, and of one that is still being opened, are ignored from now on.
        self.attempt += 1
        self.link?.end()
        self.link = nil
    }

    /// Compares the room's location in the key directory with the one that the publisher is connected to.
    func located(_ lookup: KeyDirectory.Lookup) {
        // A key that is gone, or a directory that cannot be read, says nothing about the running room.
        guard case .found(let location) = lookup, location != self.location, !self.isClosing else { return }
        self.perform(self.session.close(.moved))
    }

    // MARK: Forwarding

    private func beginForwarding() {
        guard let context = self.context else { return }
        self.isForwarding = true
        self.core.published(self)
        self.core.counters.update {
            $0.publishing += 1
            $0.publications += 1
        }
        self.log(.info, "publishing", nil)
        context.channel.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes))
            .whenFailure { _ in }
        // So that after each read, reading can stop if bytes wait to be sent to the room.
        context.channel.setOption(.maxMessagesPerRead, value: 1).whenFailure { _ in }
        if self.core.settings.readDelay > 0 {
            self.socket = self.isSecure ? nil : SocketReader.socket(of: context.channel)
            // The socket is not reported as readable, since the channel does not read; but Linux makes the receive
            // window large enough for this mark, so that a publisher is not blocked while its bytes wait.
            let mark = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_RCVLOWAT))
            if self.socket != nil {
                context.channel.setOption(mark, value: SocketOptionValue(Self.readBytes)).whenFailure { _ in }
            }
        } else {
            self.setReading(true)
        }
        self.core.join(self)
    }

    private func endForwarding() {
        guard self.isForwarding else { return }
        self.isForwarding = false
        self.core.leave(self)
        self.core.counters.update { $0.publishing -= 1 }
    }

    /// Forwards what has arrived, when it is this connection's turn.
    ///
    /// - Returns: Bytes forwarded since the last turn; nil if the connection is not to be read at present.
    func takeTurn() -> Int? {
        // Not read while bytes wait to be sent to the room; then TCP slows the publisher down.
        guard self.isForwarding, !self.isClosing, let link = self.link, link.pending == 0, let context = self.context,
            context.channel.isActive
        else { return nil }
        defer { self.sinceTurn = 0 }
        guard let socket = self.socket else {
            context.read()
            return self.sinceTurn
        }
        // Moved out of the property, so that the buffer is not copied.
        var buffer = self.core.buffer
        self.core.buffer = ByteBuffer()
        defer { self.core.buffer = buffer }
        var total = 0
        for number in 0..<Self.mostReads {
            let count: Int
            let isLast: Bool
            if let pipe = self.core.pipe,
                let moved = link.splice(from: socket, through: pipe, size: Self.readBytes, rest: &buffer)
            {
                count = moved
                if count > 0 { self.count(count) }
                isLast = count < Self.readBytes && !self.secondRead.isNeeded(after: count, number: number)
            } else {
                if self.core.pipe?.isUsable == false { self.core.pipeFailed() }
                count = SocketForwarder.receive(socket, into: &buffer, size: Self.readBytes)
                if count > 0 { self.pass(&buffer) }
                isLast = count < Self.readBytes
            }
            total += count
            // The forwarding may have ended with a broken room.
            if isLast || total >= Self.turnBytes || link.pending > 0 || !self.isForwarding { break }
        }
        return total + self.sinceTurn
    }

    private func pass(_ buffer: inout ByteBuffer) {
        self.count(buffer.readableBytes)
        self.link?.forward(&buffer)
    }

    private func count(_ bytes: Int) {
        self.bytes += UInt64(clamping: bytes)
        self.core.counters.update { $0.bytes += UInt64(clamping: bytes) }
    }

    private func roomDrained() {
        if self.isForwarding, self.core.settings.readDelay <= 0 { self.setReading(true) }
    }

    // MARK: Ends

    private func close(_ reason: EdgeEnd) {
        guard !self.isClosing else { return }
        self.isClosing = true
        self.timer?.cancel()
        self.timer = nil
        self.endForwarding()
        self.core.counters.update { $0.ends[reason.name, default: 0] += 1 }
        self.log(self.core.mayLog(about: self.address) ? .info : .debug, "publisher disconnected", "\(reason)")
        guard let context = self.context else { return }
        guard self.core.lingers(self) else { return context.close(promise: nil) }
        // Unread input would turn the close into a TCP reset, which discards the status. So shut down only the sending
        // side, and keep reading.
        let mark = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_RCVLOWAT))
        if self.socket != nil { context.channel.setOption(mark, value: 1).whenFailure { _ in } }
        self.setReading(true)
        context.close(mode: .output, promise: nil)
        let channel = context.channel
        let core = NIOLoopBound(self.core, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.lingering) {
            core.value.lingered()
            channel.close(promise: nil)
        }
    }

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ reason: String?) {
        var metadata: Logger.Metadata = [:]
        if let address = self.session.address {
            let segments = address.segments
            metadata["key"] = "\(RedactedKey(segments.dropFirst(segments.count > 1 ? 1 : 0).joined(separator: "/")))"
        }
        if let location {
            metadata["address"] = "\(location)"
            if !location.worker.isEmpty { metadata["worker"] = "\(location.worker)" }
        }
        if !self.session.encoder.isEmpty { metadata["encoder"] = "\(self.session.encoder)" }
        if self.bytes > 0 { metadata["bytes"] = "\(self.bytes)" }
        if let reason { metadata["reason"] = "\(reason)" }
        self.logger.log(level: level, message, metadata: metadata)
    }

    // MARK: Time

    private func armTimer() {
        guard !self.isClosing, let context = self.context, let due = self.session.nextDeadline else { return }
        guard due != self.timerDue || self.timer == nil else { return }
        self.timer?.cancel()
        self.timerDue = due
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.timer = context.eventLoop.scheduleTask(in: .nanoseconds(max(0, due &- self.core.clock.now()))) {
            let handler = box.value
            handler.timer = nil
            guard !handler.isClosing else { return }
            handler.perform(handler.session.deadlineReached(now: handler.core.clock.now()))
            handler.armTimer()
        }
    }
}
