import PublishAuth
import AsyncHTTPClient
import Logging
import MediaTypes
import NIOCore
import PipelineSpec
import RTMP
import Threading

/// Performs the actions of one connection's ``RTMPServerSession``.
///
/// States: open → closing (the session is closed; input is discarded, and a refused peer has one second to read the
/// status) → inactive.
final class RTMPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a refused connection stays open so that the peer can read the status.
    private static let lingering = TimeAmount.seconds(1)

    let core: IngestCore
    private var session: RTMPServerSession
    private var demuxer = FLVDemuxer()
    private var context: ChannelHandlerContext?
    private(set) var remote: String
    private var address: IPAddress?
    private var port: Int
    /// Whether the client has connected to the RTMPS listener.
    private let isSecure: Bool
    let number: Int
    private var logger: Logger

    private var hub: SourceHub?
    /// Empty between two reads; kept to reuse its memory, unless its capacity exceeds ``keptItems``.
    private var items: [SourceItem] = []
    private static let keptItems = 64
    private var publishingSince: Int64 = 0
    private var seen: Set<TrackKind> = []
    private var toldUnsupported = false
    private var key: RedactedKey?
    private var wasAccepted = false
    private var wasDenied = false
    /// Reason of the last refusal, for the operator's log; nil if nothing was refused or the status says it all.
    private var denial: String?
    private var isClosing = false
    private var isPaused = false
    private var isGivingWay = false
    /// Progress of the handshake at the last read; see ``RTMPServerSession/progress``.
    private var progress = 0
    private var countedBytes: UInt64 = 0
    /// Decides when the socket is read; nil unless the connection publishes.
    private var pacing: PacedReading?
    /// The webhook request about the current publish request; nil unless its answer is awaited.
    private var question: Task<Void, Never>?

    private var timer: Scheduled<Void>?
    private var timerDue = Int64.max

    init(core: IngestCore, remote: String, address: IPAddress?, port: Int, isSecure: Bool, random: [UInt8]) {
        self.core = core
        self.remote = remote
        self.address = address
        self.port = port
        self.isSecure = isSecure
        self.number = core.number()
        self.session = RTMPServerSession(
            configuration: core.configuration.session, now: core.clock.now(), random: random)
        self.logger = core.logger
        self.logger[metadataKey: "remote"] = "\(remote)"
        if !core.admission.allows(address) { self.session.connectRefusal = .address }
    }

    // MARK: Channel

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        self.core.emit(.connected(remote: self.remote))
        self.logger.debug("connection opened")
        // All clients of a proxy share its address, so it is not used for limits.
        self.core.opened(self, from: self.core.isProxy(self.address) ? nil : self.address, on: context.eventLoop)
        self.armTimer()
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let proxied = event as? ProxyHeaderHandler.Proxied, let address = proxied.address {
            self.address = address
            self.port = proxied.port
            self.remote = address.isIPv4 ? "\(address):\(proxied.port)" : "[\(address)]:\(proxied.port)"
            self.logger[metadataKey: "remote"] = "\(self.remote)"
            self.session.connectRefusal = self.core.admission.allows(address) ? nil : .address
            self.core.opened(self, from: address, on: context.eventLoop)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Drops the connection: it does not publish and there are too many connections.
    func crowdedOut() { self.drop("there are too many connections that do not publish", .limitExceeded) }

    /// Closes the connection without a status for the peer.
    private func drop(_ reason: String, _ code: ErrorCode = .authDenied) {
        guard !self.isClosing else { return }
        self.isClosing = true
        self.timer?.cancel()
        self.timer = nil
        self.withdrawQuestion()
        self.logger.debug("connection dropped", metadata: ["reason": "\(reason)"])
        self.core.emit(.refused(remote: self.remote, key: self.key, reason: reason, code: code))
        self.context?.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isClosing else { return }
        let buffer = self.unwrapInboundIn(data)
        let now = self.core.clock.now()
        let actions = self.session.receive(buffer.readableBytesUInt8Span, now: now)
        self.perform(actions)
        self.session.reuse(actions)
        if self.session.progress > self.progress {
            self.progress = self.session.progress
            self.core.advanced(self)
        }
        if let pacing = self.pacing {
            pacing.received(
                buffer.readableBytes, missing: self.session.missingBytes, isAway: self.hub?.isPatient == true,
                at: now)
        }
        self.checkCodecs(now: now)
        self.updateStatistics()
        self.armTimer()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        self.timer = nil
        self.withdrawQuestion()
        self.perform(self.session.inputEnded())
        self.core.closed(self)
        if !self.wasAccepted, !self.isClosing {
            self.core.emit(
                .refused(remote: self.remote, key: self.key, reason: "closed before publishing", code: nil))
        }
        self.isClosing = true
        self.context = nil
        self.logger.debug("connection closed")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    /// Ends the connection with a status for the encoder.
    func refuse(_ refusal: PublishRefusal) { self.perform(self.session.refuse(refusal)) }

    func handOver() -> Bool {
        defer { self.perform(self.session.handOver()) }
        return self.session.canReconnect
    }

    /// Ends the connection because a newer one has taken its source over.
    func giveWay() {
        self.isGivingWay = true
        self.refuse(.takenOver)
    }

    /// Back-pressure on this publisher only, through the TCP window.
    func setPaused(_ isPaused: Bool) {
        guard self.isPaused != isPaused, let context = self.context else { return }
        self.isPaused = isPaused
        self.pacing?.isPaused = isPaused
        // While reading is paused, silence is not the publisher's fault: the deadlines start again.
        if !isPaused { self.perform(self.session.receive([UInt8]().span, now: self.core.clock.now())) }
        context.channel.setOption(.autoRead, value: !isPaused).whenFailure { [logger] error in
            logger.debug("cannot pause or resume reading from the publisher", metadata: ["error": "\(error)"])
        }
        self.armTimer()
    }

    // MARK: Actions

    private func perform(_ actions: [RTMPServerAction]) {
        if actions.isEmpty { return }
        var items = self.items
        self.items = []
        // By then all items have been delivered.
        defer { if items.capacity <= Self.keptItems { self.items = items } }
        let now = self.core.clock.now()
        let newest = self.pacing?.isAway == true ? Self.newest(of: actions) : nil
        for action in actions {
            if case .message(let message) = action {
                let came = newest.flatMap { newest in
                    self.pacing?.arrival(of: message.timestamp, newest: newest, read: now)
                }
                self.demuxer.receive(message, arrival: came ?? now, into: &items)
                continue
            }
            if case .wallClock(let time, let timestamp) = action {
                self.demuxer.note(time, at: timestamp)
                continue
            }
            self.handOut(&items)
            switch action {
            case .send(let bytes): self.send(bytes)
            case .publishRequested(let request): self.decide(request)
            case .unpublished(let reason): self.endPublication(reason)
            case .close(let failure): self.close(failure)
            case .data(let name, let values):
                if let hub = self.hub { self.core.emit(.data(hub.source, name: name, values: values)) }
            case .metadata, .message, .wallClock: break
            }
        }
        self.handOut(&items)
    }

    /// The latest timestamp of the messages among `actions`; nil if there are none.
    private static func newest(of actions: [RTMPServerAction]) -> UInt32? {
        var newest: UInt32?
        for case .message(let message) in actions {
            newest = newest.map { ArrivalEstimate.newer($0, message.timestamp) } ?? message.timestamp
        }
        return newest
    }

    /// Sends each burst in one write: Wirecast cannot read an answer in pieces.
    private func send(_ bytes: [UInt8]) {
        guard let context = self.context else { return }
        context.writeAndFlush(self.wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    private func decide(_ request: PublishRequest) {
        self.key = RedactedKey(request.address, app: self.core.admission.app)
        // Data behind the request in the same read may have ended the session. Then no key is checked and no other
        // publisher is disconnected for it.
        guard self.session.isDeciding(request.id) else { return }
        switch self.core.identify(request) {
        case .deny(let refusal, let reason): self.turnAway(request, refusal, reason)
        case .source(let source):
            if let refusal = self.core.refusal(of: source) {
                self.core.giveBack(request)
                return self.deny(request, refusal, "\(source) refuses publishers for some time")
            }
            guard self.core.hook == nil || self.core.mayAsk(from: self.address) else {
                // The key is valid, so this does not count as a wrong key.
                self.core.giveBack(request)
                return self.deny(request, .undecided, "there were too many webhook requests for its address")
            }
            guard self.core.mayPublish(source) else {
                self.core.giveBack(request)
                return self.turnAway(request, .tooOften, "\(source) was published too often")
            }
            guard let hook = self.core.hook, let client = self.core.client, let context = self.context
            else { return self.claim(source, request) }
            self.ask(hook, client, source, request, on: context.eventLoop)
        }
    }

    /// Asks the webhook. Meanwhile the session queues input, and denies if the answer takes too long.
    private func ask(
        _ hook: PublishWebhookClient, _ client: HTTPClient, _ source: SourceID, _ request: PublishRequest,
        on loop: any EventLoop
    ) {
        var facts = PublishFacts(
            time: self.core.configuration.wallClock(), connection: self.number, address: self.address,
            port: self.port, app: self.core.admission.app,
            stream: request.address.key(app: self.core.admission.app) ?? "", query: request.address.rawQuery,
            tcURL: request.tcURL, flashVersion: String(request.flashVersion.prefix(128)),
            server: self.isSecure ? self.core.secureAddress : self.core.address)
        facts.isSecure = self.isSecure
        let box = NIOLoopBound(self, eventLoop: loop)
        self.withdrawQuestion()
        self.question = Task { [gate = self.core.gate, facts] in
            let verdict = await hook.verdict(on: facts, client)
            gate.pass { loop.execute { box.value.answered(verdict, source, request) } }
        }
    }

    private func answered(_ verdict: PublishWebhookClient.Verdict, _ source: SourceID, _ request: PublishRequest) {
        // A connection that has closed must not take over the source. A newer request of this connection keeps its own
        // webhook request.
        guard self.context != nil, !self.isClosing, self.session.isDeciding(request.id) else {
            return self.core.giveBack(request)
        }
        self.question = nil
        if let failure = verdict.failure {
            self.logger.warning("the publish webhook failed", metadata: ["reason": "\(failure)"])
            self.core.emit(.hookFailed(source, reason: failure, isAllowed: verdict.refusal == nil))
        }
        if verdict.refusal != nil { self.core.giveBack(request) }
        if verdict.refusal != nil, verdict.failure == nil, self.core.failed(at: self.address) == .drop {
            self.drop("refused by the webhook")
        } else if let refusal = verdict.refusal {
            self.deny(request, refusal, verdict.failure.map { "webhook: \($0)" } ?? "refused by the webhook")
        } else {
            self.claim(source, request)
        }
        self.armTimer()
    }

    /// Refuses a wrong key, or a valid one that is used too often, after a delay. A client with too many wrong keys is
    /// dropped without an answer. Nothing is read during the delay.
    private func turnAway(_ request: PublishRequest, _ refusal: PublishRefusal, _ reason: String) {
        guard self.core.failed(at: self.address) == .explain else { return self.drop(reason) }
        let delay = self.core.configuration.wrongKeyDelay
        guard delay > 0, let context = self.context else { return self.deny(request, refusal, reason) }
        self.core.denied(self)
        self.setPaused(true)
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .nanoseconds(delay)) {
            if !box.value.isClosing { box.value.deny(request, refusal, reason) }
        }
    }

    /// Cancels the webhook request, which frees the HTTP connection to the webhook.
    private func withdrawQuestion() {
        self.question?.cancel()
        self.question = nil
    }

    private func deny(_ request: PublishRequest, _ refusal: PublishRefusal, _ reason: String?) {
        self.wasDenied = true
        self.denial = reason
        self.perform(self.session.decide(.deny(refusal), on: request.id, now: self.core.clock.now()))
    }

    private func claim(_ source: SourceID, _ request: PublishRequest) {
        switch self.core.claim(source, by: self) {
        case .deny(let refusal, let reason):
            self.core.giveBack(request)
            self.deny(request, refusal, reason)
        case .accept(let hub, let isTakeover):
            self.core.published(self)
            self.wasAccepted = true
            self.hub = hub
            self.demuxer = FLVDemuxer(codecs: self.core.configuration.codecs(of: hub.source))
            self.seen = []
            self.toldUnsupported = false
            let now = self.core.clock.now()
            self.publishingSince = now
            hub.updateStatistics {
                $0.publications += 1
                $0.isPublishing = true
                $0.webRTC = nil
            }
            let encoder = String(request.flashVersion.prefix(128))
            self.logger[metadataKey: "source"] = "\(hub.source)"
            self.logger.info("publishing", metadata: ["encoder": "\(encoder)"])
            self.core.emit(
                .publishing(
                    hub.source, PublisherInfo(encoder: encoder, remote: self.remote, isTakeover: isTakeover)))
            self.perform(self.session.decide(.accept, on: request.id, now: now))
            // Queued input may already have ended this publication and begun another one, which has done all of this.
            guard self.hub === hub, self.pacing == nil, let channel = self.context?.channel else { return }
            if hub.isFull { self.setPaused(true) }
            self.pacing = PacedReading(
                channel, number: self.number, patience: self.core.configuration.readPatience(of: hub.source),
                grid: self.core.grid, clock: self.core.clock, hub: hub)
            self.pacing?.isPaused = self.isPaused
        }
    }

    private func handOut(_ items: inout [SourceItem]) {
        guard !items.isEmpty else { return }
        defer { items.removeAll(keepingCapacity: true) }
        guard let hub = self.hub else { return }
        hub.receive(items)
        for item in items {
            switch item {
            case .configuration(let parameters): self.core.emit(.configuration(hub.source, parameters))
            case .packet(let packet):
                if self.seen.count < 2, self.seen.insert(packet.kind).inserted {
                    self.core.emit(packet.kind == .video ? .firstVideo(hub.source) : .firstAudio(hub.source))
                }
            case .end: break
            }
        }
    }

    private func endPublication(_ reason: UnpublishReason) {
        guard let hub = self.hub else { return }
        self.updateStatistics()
        self.pacing?.end()
        self.pacing = nil
        self.hub = nil
        hub.updateStatistics { $0.isPublishing = false }
        if case .closed(let failure) = reason, failure == .refused(.kicked) { hub.cut() }
        hub.receive([.end])
        self.core.release(hub.source, by: self)
        switch reason {
        case .client:
            self.logger.info("unpublished")
            self.core.emit(.unpublished(hub.source, reason: "unpublished by the encoder"))
            if self.isPaused { self.setPaused(false) }
            if !self.isClosing, let loop = self.context?.eventLoop {
                self.core.opened(self, from: self.address, on: loop)
            }
        case .disconnected:
            self.logger.info("publisher lost")
            self.core.emit(.lost(hub.source, reason: "connection closed"))
        case .closed where self.isGivingWay:
            self.logger.info("publisher taken over")
            self.core.emit(.takenOver(hub.source))
        case .closed(let failure):
            self.logger.info("publisher lost", metadata: ["reason": "\(failure)"])
            self.core.emit(.lost(hub.source, reason: "\(failure)"))
        }
    }

    private func close(_ failure: RTMPFailure) {
        guard !self.isClosing else { return }
        self.isClosing = true
        self.timer?.cancel()
        self.timer = nil
        self.withdrawQuestion()
        // A connection that has published may ask again with a key that is refused.
        if !self.wasAccepted || self.wasDenied {
            let reason = self.denial.map { "\(failure): \($0)" } ?? "\(failure)"
            self.logger.log(
                level: self.core.mayLog(from: self.address) ? .info : .debug, "connection refused",
                metadata: ["reason": "\(reason)", "key": "\(self.key?.description ?? "")"])
            self.core.emit(.refused(remote: self.remote, key: self.key, reason: reason, code: failure.errorCode))
        }
        guard let context = self.context else { return }
        guard self.core.closing(self) else { return context.close(promise: nil) }
        // Unread input would turn the close into a TCP reset, which discards the status. So shut down only the sending
        // side, and keep reading.
        if self.isPaused { self.setPaused(false) }
        context.close(mode: .output, promise: nil)
        let channel = context.channel
        let core = NIOLoopBound(self.core, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: RTMPConnectionHandler.lingering) {
            core.value.lingered()
            channel.close(promise: nil)
        }
    }

    // MARK: Time

    private func armTimer() {
        guard !self.isClosing, let context = self.context else { return }
        let due = min(self.session.nextDeadline ?? .max, self.codecDeadline)
        // A later deadline is checked when the timer fires; most deadlines move with every read.
        guard due < self.timerDue else { return }
        self.timer?.cancel()
        self.timerDue = due
        let wait = max(0, due &- self.core.clock.now())
        let box = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.timer = context.eventLoop.scheduleTask(in: .nanoseconds(wait)) { box.value.timerFired() }
    }

    private func timerFired() {
        self.timerDue = .max
        let now = self.core.clock.now()
        if !self.isPaused { self.perform(self.session.deadlineReached(now: now)) }
        self.checkCodecs(now: now)
        // While paused, deadlines do not apply; `setPaused(_:)` arms the timer again.
        if !self.isPaused { self.armTimer() }
    }

    private var codecDeadline: Int64 {
        // If the video codec is not supported, audio alone is not what the publisher wants, so it is refused as well.
        guard self.hub != nil, self.demuxer.unsupportedCodec != nil,
            !self.demuxer.hasSupportedTrack || self.demuxer.unsupportedVideo != nil
        else { return .max }
        return self.publishingSince &+ self.core.configuration.unsupportedCodecTimeout
    }

    private func checkCodecs(now: Int64) {
        guard let hub = self.hub, let codec = self.demuxer.unsupportedCodec else { return }
        if !self.toldUnsupported {
            self.toldUnsupported = true
            self.logger.warning("unsupported codec", metadata: ["codec": "\(codec)"])
            self.core.emit(.unsupportedCodec(hub.source, codec: codec))
        }
        if now >= self.codecDeadline { self.refuse(.unsupportedCodec(self.demuxer.unsupportedVideo ?? codec)) }
    }

    private func updateStatistics() {
        guard let hub = self.hub else { return }
        let received = self.session.bytesReceived
        let new = received - self.countedBytes
        self.countedBytes = received
        let quirks = self.session.quirks
        let counters = self.demuxer.counters
        hub.updateStatistics {
            $0.bytes += new
            $0.quirks = quirks
            $0.demuxed = counters
        }
    }
}
