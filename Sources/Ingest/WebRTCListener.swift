import AsyncHTTPClient
import HTTPListener
import Logging
import MediaTypes
import NIOCore
import OpenSSLCrypto
import PipelineSpec
import PublishAuth
import RTMP
import WebRTC

/// The UDP socket and the sessions of a room's WebRTC publishers. ``WebRTCListener+Requests`` has their HTTP requests, and
/// ``WebRTCListener+Streams`` their TCP connections.
///
/// The session of a connectivity check is found by our user name fragment in it, that of other datagrams (RFC 7983) by
/// their sender, from which a valid check came before. Datagrams without a session are dropped without an answer.
///
/// Bound to the server's event loop. Clients pass the same admission, limits and webhook as RTMP publishers when they POST
/// their offer; a client becomes the publisher of its source when its DTLS handshake is complete.
final class WebRTCListener: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    /// Minimum time from setting a session's timer until it fires, in nanoseconds.
    static let shortestTimer: Int64 = 5_000_000

    let core: IngestCore
    let settings: WebRTCSettings
    let requests: WHIPRequests
    let loop: any EventLoop
    let identity: DTLSIdentity
    let limits: WebRTCSession.Limits
    /// Rate limit of POST, PATCH and DELETE requests per client network.
    var posts = ClientRateLimiter((perSecond: 4, burst: 32))
    /// TCP connections that are open, by number.
    var connections: [Int: Stream] = [:]
    var connectionCount = 0
    var streams = PeerStreams<Stream, WebRTCPublisher>()
    var streamLimiter: ConnectionLimiter
    /// Whether a second check of ``streamLimiter`` is scheduled.
    var isSweepDue = false
    /// Candidates of every answer; empty before the sockets are bound.
    var candidates: [AnswerSettings.Candidate] = []
    /// `HOST:PORT` of the HTTP listener.
    var address = ""
    var isSecure = false
    var sessions: [String: WebRTCPublisher] = [:]
    /// All clients that have not ended, by number.
    var publishers: [Int: WebRTCPublisher] = [:]
    var routes = WebRTCRoutes<SocketAddress, WebRTCPublisher>()
    private var context: ChannelHandlerContext?
    private var output = WebRTCSessionOutput()
    private var checkLimiter: CheckLimiter
    /// Publishers whose timer may have to be set again after this read.
    private var touched: [Int: WebRTCPublisher] = [:]
    /// With which clients are refused since ``stop(_:)``; nil before.
    private(set) var stopRefusal: PublishRefusal?
    var isStopped: Bool { self.stopRefusal != nil }
    /// Number of datagrams and TCP packets that belong to no session, or exceed the limit of connectivity checks.
    private(set) var strangers: UInt64 = 0

    init(core: IngestCore, settings: WebRTCSettings, identity: DTLSIdentity, loop: any EventLoop) {
        self.core = core
        self.settings = settings
        self.identity = identity
        self.loop = loop
        self.checkLimiter = CheckLimiter(now: core.clock.now())
        self.streamLimiter = ConnectionLimiter(
            maximum: core.configuration.maximumConnections,
            maximumPerPlace: core.configuration.maximumWaitingPerAddress)
        self.requests = WHIPRequests(
            settings: WHIPSettings(
                app: core.admission.app, allowedOrigins: settings.allowedOrigins, iceServers: settings.iceServers))
        var limits = WebRTCSession.Limits()
        limits.firstMedia = core.configuration.session.firstMediaTimeout
        limits.idle = core.configuration.session.mediaIdleTimeout
        self.limits = limits
    }

    /// Stores the candidates and the address of the HTTP listener, once all sockets are open.
    func opened(_ candidates: [AnswerSettings.Candidate], address: String, isSecure: Bool) {
        self.candidates = candidates
        self.address = address
        self.isSecure = isSecure
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.core.logger.debug("WebRTC listener", metadata: ["error": "\(error)"])
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        context.fireChannelInactive()
        guard !self.isStopped else { return }
        self.core.logger.warning(
            "the UDP socket of the WebRTC publishers was closed by an error and is opened again")
    }

    // MARK: Datagrams

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = self.unwrapInboundIn(data)
        guard let first = envelope.data.readableBytesView.first else { return }
        let now = self.core.clock.now()
        guard self.checkLimiter.allows(first, isKnown: self.routes[envelope.remoteAddress] != nil, now: now) else {
            return self.noteStranger()
        }
        var bytes = Array(envelope.data.readableBytesView)
        if first < 4 { return self.receiveCheck(bytes, at: envelope.remoteAddress, now) }
        guard let route = self.routes[envelope.remoteAddress], let session = route.owner.session else {
            self.strangers &+= 1
            return
        }
        self.receive(&bytes, of: route.owner, session, from: route.address, now)
    }

    /// Takes a datagram that is no connectivity check. Only authentic media counts as the publisher's.
    func receive(
        _ bytes: inout [UInt8], of publisher: WebRTCPublisher, _ session: WebRTCSession, from address: ICEAddress,
        _ now: Int64
    ) {
        let before = session.mediaBytes
        session.receive(&bytes, from: address, now: now, into: &self.output)
        let count = session.mediaBytes &- before
        if count > 0 { publisher.hub?.updateStatistics { $0.bytes += count } }
        self.perform(publisher, now)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        self.readComplete()
    }

    /// Sets the timers of the publishers whose datagrams were read.
    func readComplete() {
        for publisher in self.touched.values { self.armTimer(publisher) }
        self.touched.removeAll(keepingCapacity: true)
    }

    /// Counts a datagram or packet that belongs to no session, or exceeds the limit of connectivity checks.
    func noteStranger() { self.strangers &+= 1 }

    /// The session whose user name fragment is in a connectivity check; nil if there is none.
    func session(ofCheck bytes: [UInt8]) -> (STUNMessage, WebRTCPublisher, WebRTCSession)? {
        guard let check = STUNMessage(bytes), let ufrag = check.receiverUfrag,
            let publisher = self.routes.owner(ofUfrag: ufrag), let session = publisher.session
        else { return nil }
        return (check, publisher, session)
    }

    private func receiveCheck(_ bytes: [UInt8], at remote: SocketAddress, _ now: Int64) {
        guard let (check, publisher, session) = self.session(ofCheck: bytes), let address = ICEAddress(remote),
            self.core.admission.allows(address.ipAddress)
        else { return self.noteStranger() }
        self.routes.checked(address, at: remote, publisher)
        self.receive(check, of: publisher, session, from: address, now)
        if !publisher.hasEnded { self.routes.prune(publisher, after: address) { session.isKnown($0, now: now) } }
    }

    /// Takes a connectivity check for a session.
    func receive(
        _ check: STUNMessage, of publisher: WebRTCPublisher, _ session: WebRTCSession, from address: ICEAddress,
        _ now: Int64
    ) {
        session.receive(check, from: address, now: now, into: &self.output)
        self.perform(publisher, now)
    }

    /// Sends and delivers what a session has left in ``output``.
    private func perform(_ publisher: WebRTCPublisher, _ now: Int64) {
        // Copied and cleared first: the changes may end other sessions, which use ``output`` too.
        let output = self.output
        self.output.clear()
        for datagram in output.datagrams { self.send(datagram, publisher) }
        for change in output.changes { self.changed(publisher, change, now) }
        if !output.items.isEmpty { self.deliver(output.items, publisher) }
        if publisher.hasEnded { return }
        self.touched[publisher.number] = publisher
        if now >= publisher.nextReport { self.report(publisher, now) }
    }

    /// Sends a datagram. It is dropped if the channel is full, as on the network.
    private func send(_ datagram: WebRTCSessionOutput.Datagram, _ publisher: WebRTCPublisher) {
        if datagram.address.isTCP {
            self.streams[datagram.address, publisher]?.send([datagram.bytes])
            return
        }
        guard let context = self.context, context.channel.isWritable,
            let remote = self.routes.remote(of: datagram.address, publisher)
        else { return }
        let buffer = context.channel.allocator.buffer(bytes: datagram.bytes)
        context.writeAndFlush(
            self.wrapOutboundOut(AddressedEnvelope(remoteAddress: remote, data: buffer)), promise: nil)
    }

    private func changed(_ publisher: WebRTCPublisher, _ change: SessionChange, _ now: Int64) {
        switch change {
        case .known(let address):
            self.core.advanced(publisher)
            self.route(address, to: publisher, now)
        case .connected: self.claim(publisher, now)
        case .silent:
            self.endPublication(
                publisher, .lost("no media arrived for \(self.limits.silence / 1_000_000) ms"))
        case .resumed: self.claimAgain(publisher, now)
        case .ended(let end): self.sessionEnded(publisher, end)
        }
    }

    /// Assigns the datagrams of an address to the publisher, unless another publisher keeps it.
    private func route(_ address: ICEAddress, to publisher: WebRTCPublisher, _ now: Int64) {
        self.routes.claim(address, by: publisher) { self.keeps($0, address, against: publisher, now) }
        self.routes.find(publisher, by: publisher.session?.ufrags ?? [])
    }

    /// Whether `other` keeps an address from which a valid check for `publisher` came. The check does not prove that the
    /// publisher has the address: it could take the datagrams of others with forged sender addresses. But a publisher
    /// that was killed and returns with the same key may use its old port again.
    private func keeps(
        _ other: WebRTCPublisher, _ address: ICEAddress, against publisher: WebRTCPublisher, _ now: Int64
    ) -> Bool {
        guard let session = other.session else { return false }
        if session.isUsing(address, now: now) { return true }
        return other.source != publisher.source && session.isKnown(address, now: now)
    }

    // MARK: Time

    /// Runs `body` with the session's output and performs it.
    func with(_ publisher: WebRTCPublisher, _ body: (WebRTCSession, inout WebRTCSessionOutput) -> Void) {
        guard let session = publisher.session else { return }
        body(session, &self.output)
        self.perform(publisher, self.core.clock.now())
        self.touched[publisher.number] = nil
        self.armTimer(publisher)
    }

    private func armTimer(_ publisher: WebRTCPublisher) {
        guard !publisher.hasEnded, let due = publisher.session?.deadline, due < publisher.timerDue else { return }
        publisher.timer?.cancel()
        let wait = max(Self.shortestTimer, due &- self.core.clock.now())
        publisher.timerDue = due
        let box = NIOLoopBound((self, publisher), eventLoop: self.loop)
        publisher.timer = self.loop.scheduleTask(in: .nanoseconds(wait)) {
            let (listener, publisher) = box.value
            publisher.timerDue = .max
            guard !publisher.hasEnded else { return }
            let now = listener.core.clock.now()
            listener.with(publisher) { $0.advance(to: now, into: &$1) }
        }
    }

    // MARK: The end

    /// Cancels the publisher's timer, closes its TCP connections and removes it from all tables.
    func forget(_ publisher: WebRTCPublisher) {
        publisher.timer?.cancel()
        publisher.timer = nil
        self.routes.remove(publisher)
        self.closeStreams(of: publisher)
        if let id = publisher.sessionID { self.sessions[id] = nil }
        self.publishers[publisher.number] = nil
        publisher.session = nil
    }

    /// Refuses all clients from now on, and disconnects the current publishers and waiting clients.
    func stop(_ refusal: PublishRefusal) {
        self.stopRefusal = refusal
        for publisher in Array(self.publishers.values) {
            self.refuse(publisher, refusal, reason: refusal.text)
        }
        for stream in Array(self.connections.values) { stream.close() }
    }
}
