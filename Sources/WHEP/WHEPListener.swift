import HTTPListener
import Logging
import MediaTypes
import NIOCore
import NIOPosix
import OpenSSLCrypto
import PipelineSpec
import PublishAuth
import Threading
import WebRTC

/// The UDP socket and the sessions of a room's WebRTC viewers. ``WHEPListener+Requests`` has their HTTP requests, and
/// ``WHEPListener+Streams`` their TCP connections.
///
/// Datagrams are found by their content (RFC 7983): connectivity checks by our user name fragment, everything else by an
/// address from which a valid check came. All others are dropped without an answer.
///
/// Bound to the server's event loop.
final class WHEPListener: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    /// Shortest time between two runs of a session's timer, in nanoseconds.
    private static let shortestTimer: Int64 = 2_000_000
    /// How long a feed stays awake after its last viewer has left.
    private static let restDelay = TimeAmount.seconds(30)
    /// Whether the kernel can split a buffer into several datagrams.
    private static let canSegment = System.supportsUDPSegmentationOffload

    let settings: WHEPSettings
    let identity: DTLSIdentity
    let clock: any MonotonicClock
    let logger: Logger
    let loop: any EventLoop
    /// In the order of the feeds.
    let renditions: [Viewer.Rendition]
    /// Candidates of every answer; empty before the socket is bound.
    var candidates: [AnswerSettings.Candidate] = []
    /// Rate limit of requests per client network.
    var posts = ClientRateLimiter((perSecond: 4, burst: 64))
    /// All viewers that have not ended.
    var viewers: [String: Viewer] = [:]
    var nextNumber = 0
    var refused: UInt64 = 0
    var isStopped = false
    private var connected: UInt64 = 0
    /// Sums over the viewers that have ended.
    private var ended = ViewerCounters()
    var routes = WebRTCRoutes<SocketAddress, Viewer>()
    /// TCP connections that are open, by number.
    var connections: [Int: Stream] = [:]
    var connectionCount = 0
    var streams = PeerStreams<Stream, Viewer>()
    var streamLimiter: ConnectionLimiter
    private var context: ChannelHandlerContext?
    private var usesSegments = WHEPListener.canSegment
    private var output = ViewerOutput()
    private var checkLimiter: CheckLimiter
    private var touched: [Int: Viewer] = [:]
    private var strangers: UInt64 = 0
    /// Copies the statistics; cancelled at the end.
    var ticker: RepeatedTask?

    init(
        settings: WHEPSettings, identity: DTLSIdentity, feeds: [WHEPFeed], clock: any MonotonicClock, wallClock: Int64,
        logger: Logger, loop: any EventLoop
    ) {
        self.settings = settings
        self.identity = identity
        self.clock = clock
        self.logger = logger
        self.loop = loop
        self.checkLimiter = CheckLimiter(now: clock.now())
        self.streamLimiter = ConnectionLimiter(
            maximum: settings.maxViewers * 2 + 64, maximumPerPlace: Self.mostWaitingPerPlace)
        let program = ProgramClock(now: clock.now(), wallClock: wallClock)
        self.renditions = feeds.map {
            Viewer.Rendition(feed: $0, stream: RenditionStream(name: $0.name, clock: program))
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.logger.debug("WebRTC viewers", metadata: ["error": "\(error)"])
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        context.fireChannelInactive()
        guard !self.isStopped else { return }
        // Some errors of one write close the socket. Segmentation is a possible cause: some network devices refuse it.
        self.logger.warning("the UDP socket of the WebRTC viewers was closed by an error and is opened again")
        self.usesSegments = false
    }

    // MARK: Packets of the encoders

    /// Takes what the feed has and sends it to its viewers.
    func handOut(_ rendition: Viewer.Rendition) {
        let now = self.clock.now()
        var hasEnded = false
        for item in rendition.feed.take() {
            switch item {
            case .configuration(let parameters): rendition.stream.configure(parameters)
            case .packet(let packet): rendition.stream.receive(packet, now: now)
            case .end: hasEnded = true
            }
        }
        for viewer in rendition.viewers.values where viewer.isConnected {
            viewer.session.send(rendition.stream, now: now, into: &self.output)
            self.perform(viewer)
        }
        self.context?.flush()
        self.armTimers()
        if hasEnded { for viewer in Array(rendition.viewers.values) { self.close(viewer) } }
    }

    // MARK: Datagrams

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = self.unwrapInboundIn(data)
        guard let first = envelope.data.readableBytesView.first else { return }
        let now = self.clock.now()
        guard self.checkLimiter.allows(first, isKnown: self.routes[envelope.remoteAddress] != nil, now: now) else {
            return self.noteStranger()
        }
        var bytes = Array(envelope.data.readableBytesView)
        if first < 4 { return self.receiveCheck(bytes, from: envelope.remoteAddress, now) }
        guard let route = self.routes[envelope.remoteAddress] else {
            self.strangers &+= 1
            return
        }
        let viewer = route.owner
        viewer.session.receive(&bytes, from: route.address, viewer.rendition.stream, now: now, into: &self.output)
        self.perform(viewer)
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.readComplete() }

    func readComplete() {
        self.context?.flush()
        self.armTimers()
    }

    func noteStranger() { self.strangers &+= 1 }

    private func receiveCheck(_ bytes: [UInt8], from remote: SocketAddress, _ now: Int64) {
        guard let check = STUNMessage(bytes) else { return self.noteStranger() }
        if check.kind == .success, let route = self.routes[remote] {
            let viewer = route.owner
            viewer.session.receive(
                answer: check, from: route.address, viewer.rendition.stream, now: now, into: &self.output)
            return self.perform(viewer)
        }
        guard let ufrag = check.receiverUfrag, let viewer = self.routes.owner(ofUfrag: ufrag),
            let address = ICEAddress(remote)
        else { return self.noteStranger() }
        self.routes.checked(address, at: remote, viewer)
        viewer.session.receive(check, from: address, viewer.rendition.stream, now: now, into: &self.output)
        self.perform(viewer)
        if !viewer.hasEnded { self.routes.prune(viewer, after: address) { viewer.session.isKnown($0, now: now) } }
    }

    /// Sends what a session has left in ``output``, without a flush.
    private func perform(_ viewer: Viewer) {
        // Copied and cleared first: the changes may end other sessions, which use ``output`` too.
        let output = self.output
        self.output.clear()
        for datagram in output.datagrams { self.write(datagram, viewer) }
        for change in output.changes {
            switch change {
            case .known(let address): self.route(address, to: viewer)
            case .connected:
                viewer.isConnected = true
                self.connected &+= 1
                self.logger.debug("a viewer is connected", metadata: ["rendition": "\(viewer.rendition.feed.name)"])
            case .silent, .resumed: break
            case .ended(let end): self.ended(viewer, end)
            }
        }
        if !viewer.hasEnded { self.touched[viewer.number] = viewer }
    }

    /// Writes a datagram. It is dropped if the channel is full, as on the network.
    private func write(_ datagram: ViewerOutput.Datagram, _ viewer: Viewer) {
        if datagram.address.isTCP {
            self.streams[datagram.address, viewer]?.send(datagram.parts)
            return
        }
        guard let context = self.context, let remote = self.routes.remote(of: datagram.address, viewer) else { return }
        // Waits for no answer: what one viewer is sent does not delay the others.
        guard context.channel.isWritable else { return }
        guard datagram.segment > 0, self.usesSegments else {
            for part in datagram.parts {
                let buffer = context.channel.allocator.buffer(bytes: part)
                context.write(
                    self.wrapOutboundOut(AddressedEnvelope(remoteAddress: remote, data: buffer)), promise: nil)
            }
            return
        }
        let metadata = AddressedEnvelope<ByteBuffer>.Metadata(
            ecnState: .transportNotCapable, packetInfo: nil, segmentSize: datagram.segment)
        let buffer = context.channel.allocator.buffer(bytes: datagram.bytes)
        context.write(
            self.wrapOutboundOut(AddressedEnvelope(remoteAddress: remote, data: buffer, metadata: metadata)),
            promise: nil)
    }

    /// Datagrams of the address belong to the viewer from now on. A viewer that uses it keeps it, so that no other client can
    /// take it away with forged sender addresses.
    private func route(_ address: ICEAddress, to viewer: Viewer) {
        let now = self.clock.now()
        self.routes.claim(address, by: viewer) { $0.session.isUsing(address, now: now) }
        self.routes.find(viewer, by: viewer.session.ufrags)
    }

    // MARK: Time

    /// Runs `body` with the session's output and performs it.
    func with(_ viewer: Viewer, _ body: (ViewerSession, inout ViewerOutput) -> Void) {
        body(viewer.session, &self.output)
        self.perform(viewer)
        self.context?.flush()
        self.armTimers()
    }

    private func armTimers() {
        for viewer in self.touched.values { self.armTimer(viewer) }
        self.touched.removeAll(keepingCapacity: true)
    }

    private func armTimer(_ viewer: Viewer) {
        guard !viewer.hasEnded, let due = viewer.session.deadline, due < viewer.timerDue else { return }
        viewer.timer?.cancel()
        let wait = max(Self.shortestTimer, due &- self.clock.now())
        viewer.timerDue = due
        let box = NIOLoopBound((self, viewer), eventLoop: self.loop)
        viewer.timer = self.loop.scheduleTask(in: .nanoseconds(wait)) {
            let (listener, viewer) = box.value
            viewer.timerDue = .max
            guard !viewer.hasEnded else { return }
            let now = listener.clock.now()
            listener.with(viewer) { $0.advance(viewer.rendition.stream, to: now, into: &$1) }
        }
    }

    // MARK: Beginning and end

    /// The offer of a viewer was answered: its session waits for connectivity checks.
    func add(_ viewer: Viewer) {
        self.viewers[viewer.id] = viewer
        self.routes.find(viewer, by: viewer.session.ufrags)
        viewer.rendition.viewers[viewer.number] = viewer
        // Sets the timer.
        self.with(viewer) { _, _ in }
    }

    /// Somebody wants the rendition: its packets are needed.
    func wake(_ rendition: Viewer.Rendition) {
        rendition.rest?.cancel()
        rendition.rest = nil
        if rendition.feed.demand(true) { self.handOut(rendition) }
    }

    /// Ends a session by command of this side.
    func close(_ viewer: Viewer) {
        guard !viewer.hasEnded else { return }
        self.with(viewer) { $0.close(into: &$1) }
    }

    private func ended(_ viewer: Viewer, _ end: SessionEnd) {
        guard !viewer.hasEnded else { return }
        viewer.hasEnded = true
        self.logger.debug(
            "a viewer has left", metadata: ["rendition": "\(viewer.rendition.feed.name)", "reason": "\(end.text)"])
        self.ended += viewer.session.counters
        viewer.timer?.cancel()
        viewer.timer = nil
        self.routes.remove(viewer)
        self.closeStreams(of: viewer)
        self.viewers[viewer.id] = nil
        self.touched[viewer.number] = nil
        viewer.rendition.viewers[viewer.number] = nil
        self.restLater(viewer.rendition)
    }

    /// Lets the feed rest some time after the last viewer has left.
    func restLater(_ rendition: Viewer.Rendition) {
        guard rendition.viewers.isEmpty, rendition.feed.isAwake, rendition.rest == nil, !self.isStopped else { return }
        let box = NIOLoopBound((self, rendition), eventLoop: self.loop)
        rendition.rest = self.loop.scheduleTask(in: Self.restDelay) {
            let (_, rendition) = box.value
            rendition.rest = nil
            guard rendition.viewers.isEmpty else { return }
            rendition.feed.demand(false)
            rendition.stream.rest()
        }
    }

    /// Disconnects all viewers, and refuses further ones.
    func stop() {
        self.isStopped = true
        self.ticker?.cancel()
        for viewer in Array(self.viewers.values) { self.close(viewer) }
        for stream in Array(self.connections.values) { stream.close() }
        for rendition in self.renditions {
            rendition.rest?.cancel()
            rendition.rest = nil
            rendition.feed.attach(nil)
            rendition.feed.demand(false)
        }
    }

    /// The measurements of the present moment.
    func statistics() -> WHEPStatistics {
        var result = WHEPStatistics()
        var sum = self.ended
        for viewer in self.viewers.values {
            sum += viewer.session.counters
            if viewer.isConnected { result.viewers += 1 } else { result.joining += 1 }
        }
        for rendition in self.renditions {
            result.renditions[rendition.feed.name] = rendition.viewers.values.count { $0.isConnected }
        }
        result.sessions = self.connected
        result.refused = self.refused
        result.set(sum, strangers: self.strangers)
        return result
    }
}
