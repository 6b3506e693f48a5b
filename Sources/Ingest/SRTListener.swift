import PublishAuth
import AsyncHTTPClient
import LibAV
import Logging
import MediaTypes
import NIOCore
import NIOPosix
import PipelineSpec
import RTMP
import Threading

/// The SRT listener: one UDP port for all callers. Each accepted caller gets a libsrt listener of its own on loopback;
/// see ``SRTHandshakeProxy``.
///
/// Bound to the server's event loop. Callers pass the same admission, limits and webhook as RTMP publishers.
final class SRTListener: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    /// Time between two datagrams to a libsrt listener that has not answered.
    private static let retryInterval = TimeAmount.milliseconds(20)
    /// Time from the admission until the libsrt listener accepts, in nanoseconds; callers give up after three seconds.
    private static let joinTime: Int64 = 4_000_000_000
    /// How long the loopback channel stays open after the reader has ended, so that the last datagrams of the libsrt
    /// listener still reach the caller.
    private static let leaveTaking = TimeAmount.milliseconds(300)
    private static let sweepInterval = TimeAmount.seconds(1)

    private let core: IngestCore
    private let settings: SRTSettings
    private let loop: any EventLoop
    private var front: SRTHandshakeProxy<SocketAddress>
    private var publishers: [SocketAddress: SRTPublisher] = [:]
    private var context: ChannelHandlerContext?
    private var touched: [ObjectIdentifier: any Channel] = [:]
    private var sweeper: RepeatedTask?
    /// With which callers are refused since ``stop(_:)``; nil before.
    private var stopRefusal: PublishRefusal?

    init(core: IngestCore, settings: SRTSettings, loop: any EventLoop) {
        self.core = core
        self.settings = settings
        self.loop = loop
        self.front = SRTHandshakeProxy(
            secret: UInt64.random(in: .min ... .max), maximumPeers: 4 * core.configuration.maximumConnections)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let box = NIOLoopBound(self, eventLoop: self.loop)
        self.sweeper = self.loop.scheduleRepeatedTask(initialDelay: Self.sweepInterval, delay: Self.sweepInterval) {
            _ in
            box.value.sweep()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.sweeper?.cancel()
        self.sweeper = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.core.logger.debug("SRT listener", metadata: ["error": "\(error)"])
    }

    // MARK: Datagrams from callers

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = self.unwrapInboundIn(data)
        let (peer, datagram) = (envelope.remoteAddress, envelope.data)
        guard let first = datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) else { return }
        let now = self.core.clock.now()
        let publisher = self.publishers[peer]
        if self.front.passes(first, from: peer, now: now) {
            publisher.map { self.toListener(datagram, of: $0) }
            return
        }
        switch self.front.receive(Array(datagram.readableBytesView), from: peer, now: now) {
        case .forward: publisher.map { self.toListener(datagram, of: $0) }
        case .left:
            publisher?.hasLeft = true
            publisher.map { self.toListener(datagram, of: $0) }
        case .answer(let bytes): self.toPeer(context.channel.allocator.buffer(bytes: bytes), peer)
        case .ask(let bytes):
            publisher.map { self.toListener(context.channel.allocator.buffer(bytes: bytes), of: $0) }
        case .decide(let caller): self.decide(caller, peer, now)
        case .drop, .established, .refusedByListener: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        for channel in self.touched.values { channel.flush() }
        self.touched.removeAll(keepingCapacity: true)
    }

    /// Sends a datagram to a caller. It is dropped if the channel is full, as on the network; SRT retransmits it.
    private func toPeer(_ datagram: ByteBuffer, _ peer: SocketAddress) {
        guard let context = self.context, context.channel.isWritable else { return }
        context.writeAndFlush(
            self.wrapOutboundOut(AddressedEnvelope(remoteAddress: peer, data: datagram)), promise: nil)
    }

    private func toListener(_ datagram: ByteBuffer, of publisher: SRTPublisher) {
        guard let relay = publisher.relay, let listener = publisher.listener, relay.isWritable else { return }
        relay.write(AddressedEnvelope(remoteAddress: listener, data: datagram), promise: nil)
        self.touched[ObjectIdentifier(relay)] = relay
    }

    // MARK: Admission

    private func decide(_ caller: SRTCaller, _ peer: SocketAddress, _ now: Int64) {
        let publisher = SRTPublisher(self, peer: peer, caller: caller, number: self.core.number())
        self.publishers[peer] = publisher
        self.core.emit(.connected(remote: publisher.remote))
        self.core.opened(publisher, from: publisher.address, on: self.loop)
        guard !publisher.hasEnded else { return }
        if let refusal = self.stopRefusal { return self.refuse(publisher, refusal, reason: refusal.text) }
        guard self.core.admission.allows(publisher.address) else {
            return self.reject(publisher, PublishRefusal.address.srtCode, "its address is not allowed")
        }
        let app = self.core.admission.app
        switch SRTStreamID.read(caller.streamID ?? "", app: app) {
        case .otherMode: self.reject(publisher, 1405, "the stream id does not ask to publish", .invalidFormat)
        case .malformed: self.reject(publisher, 1400, "the stream id is missing or malformed", .invalidFormat)
        case .publish(let address):
            publisher.key = RedactedKey(address, app: app)
            let request = PublishRequest(
                id: publisher.number, address: address, tcURL: "srt://\(self.core.srtAddress)/\(app)",
                flashVersion: caller.software)
            self.identify(publisher, request)
        }
    }

    private func identify(_ publisher: SRTPublisher, _ request: PublishRequest) {
        switch self.core.identify(request) {
        case .deny(let refusal, let reason): self.turnAway(publisher, refusal, reason)
        case .source(let source):
            publisher.request = request
            if let refusal = self.core.refusal(of: source) {
                return self.refuse(publisher, refusal, reason: "\(source) refuses publishers for some time")
            }
            guard self.core.hook == nil || self.core.mayAsk(from: publisher.address) else {
                return self.refuse(
                    publisher, .undecided, reason: "there were too many webhook requests for its address")
            }
            guard self.core.mayPublish(source) else {
                return self.turnAway(publisher, .tooOften, "\(source) was published too often")
            }
            self.core.advanced(publisher)
            publisher.source = source
            guard let hook = self.core.hook, let client = self.core.client else {
                return self.join(publisher, source)
            }
            var facts = PublishFacts(
                time: self.core.configuration.wallClock(), connection: publisher.number, address: publisher.address,
                port: publisher.peer.port ?? 0, app: self.core.admission.app,
                stream: request.address.key(app: self.core.admission.app) ?? "", query: request.address.rawQuery,
                tcURL: request.tcURL, flashVersion: request.flashVersion, server: self.core.srtAddress)
            facts.scheme = "srt"
            let (asked, box, loop) = (facts, NIOLoopBound((self, publisher), eventLoop: self.loop), self.loop)
            publisher.question = Task { [gate = self.core.gate] in
                let verdict = await hook.verdict(on: asked, client)
                gate.pass { loop.execute { box.value.0.answered(verdict, box.value.1, source) } }
            }
        }
    }

    private func answered(_ verdict: PublishWebhookClient.Verdict, _ publisher: SRTPublisher, _ source: SourceID) {
        publisher.question = nil
        guard !publisher.hasEnded else { return }
        if let failure = verdict.failure {
            self.core.logger.warning(
                "the publish webhook failed",
                metadata: ["remote": "\(publisher.remote)", "reason": "\(failure)"])
            self.core.emit(.hookFailed(source, reason: failure, isAllowed: verdict.refusal == nil))
        }
        guard let refusal = verdict.refusal else { return self.join(publisher, source) }
        if verdict.failure == nil, self.core.failed(at: publisher.address) == .drop {
            return self.drop(publisher, "refused by the webhook")
        }
        self.refuse(
            publisher, refusal, reason: verdict.failure.map { "webhook: \($0)" } ?? "refused by the webhook")
    }

    /// Refuses a caller at once. A client that is refused again and again gets no answer.
    private func reject(
        _ publisher: SRTPublisher, _ code: Int, _ reason: String, _ errorCode: ErrorCode = .authDenied
    ) {
        guard self.core.failed(at: publisher.address) == .explain else { return self.drop(publisher, reason) }
        self.refuse(publisher, code: code, reason: reason, errorCode)
    }

    /// Refuses a wrong key, or a valid one that is used too often, after a delay. A client with too many wrong keys gets
    /// no answer.
    private func turnAway(_ publisher: SRTPublisher, _ refusal: PublishRefusal, _ reason: String) {
        guard self.core.failed(at: publisher.address) == .explain else { return self.drop(publisher, reason) }
        self.core.denied(publisher)
        let box = NIOLoopBound((self, publisher), eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(self.core.configuration.wrongKeyDelay)) {
            box.value.0.refuse(box.value.1, refusal, reason: reason)
        }
    }

    // MARK: Joining

    /// Creates a libsrt listener for the caller. The system chooses a free port, and the listener there takes one
    /// caller.
    private func join(_ publisher: SRTPublisher, _ source: SourceID) {
        let box = NIOLoopBound((self, publisher, source), eventLoop: self.loop)
        let free = DatagramBootstrap(group: self.loop).bind(host: "127.0.0.1", port: 0).flatMap { channel in
            let port = channel.localAddress?.port ?? 0
            return channel.close().map { port }
        }
        let relay = DatagramBootstrap(group: self.loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let (owner, publisher, _) = box.value
                    try channel.pipeline.syncOperations.addHandler(SRTRelay(owner, publisher))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
        free.and(relay).whenComplete { result in
            let (owner, publisher, source) = box.value
            switch result {
            case .failure(let error): owner.refuse(publisher, code: 1503, reason: "cannot open a socket: \(error)")
            case .success(let (port, channel)):
                guard !publisher.hasEnded else { return channel.close(promise: nil) }
                owner.listen(publisher, source, port, channel)
            }
        }
    }

    private func listen(_ publisher: SRTPublisher, _ source: SourceID, _ port: Int, _ relay: any Channel) {
        publisher.relay = relay
        publisher.listener = try? SocketAddress(ipAddress: "127.0.0.1", port: port)
        let configuration = self.core.configuration
        var settings = MPEGTSFeed.Settings(
            address: self.settings.listener(port: port), codecs: configuration.codecs(of: source),
            place: "source[\(source)]")
        settings.maximumBytes = configuration.session.limits.mediaLength
        settings.openTimeout = configuration.session.firstMediaTimeout
        settings.idleTimeout = configuration.session.mediaIdleTimeout
        settings.codecTimeout = configuration.unsupportedCodecTimeout
        let box = NIOLoopBound((self, publisher), eventLoop: self.loop)
        let (loop, emit) = (self.loop, self.core.emit)
        let feed = MPEGTSFeed(settings, clock: self.core.clock) { event in
            if let reported = event.reported(of: source) { emit(reported) }
            if case .ended(let reason) = event { loop.execute { box.value.0.feedEnded(box.value.1, reason) } }
        }
        publisher.feed = feed
        self.core.note(feed)
        feed.start()
        self.ask(publisher, self.front.admit(publisher.peer), until: self.core.clock.now() &+ Self.joinTime)
    }

    /// Sends the handshake to the libsrt listener, and repeats it until the listener answers.
    private func ask(
        _ publisher: SRTPublisher, _ action: SRTHandshakeProxy<SocketAddress>.Action, until deadline: Int64
    ) {
        guard !publisher.hasEnded, case .ask(let bytes) = action, let relay = publisher.relay else { return }
        guard self.core.clock.now() < deadline else {
            return self.refuse(publisher, code: 1503, reason: "the SRT listener for the caller did not answer")
        }
        self.toListener(relay.allocator.buffer(bytes: bytes), of: publisher)
        relay.flush()
        let box = NIOLoopBound((self, publisher), eventLoop: self.loop)
        self.loop.scheduleTask(in: Self.retryInterval) {
            let (owner, publisher) = box.value
            owner.ask(publisher, owner.front.retry(publisher.peer), until: deadline)
        }
    }

    /// Handles a datagram from the libsrt listener of a publisher.
    func received(_ datagram: ByteBuffer, from address: SocketAddress, for publisher: SRTPublisher) {
        guard address == publisher.listener, self.publishers[publisher.peer] === publisher else { return }
        let now = self.core.clock.now()
        let bytes = Array(datagram.readableBytesView)
        switch self.front.receive(bytes, fromListenerOf: publisher.peer, now: now) {
        case .forward: self.toPeer(datagram, publisher.peer)
        case .ask(let bytes):
            self.toListener(ByteBuffer(bytes: bytes), of: publisher)
            publisher.relay?.flush()
        case .established: self.established(publisher, datagram)
        case .refusedByListener(let code):
            self.toPeer(datagram, publisher.peer)
            // Nearly always the passphrase is wrong.
            _ = self.core.failed(at: publisher.address)
            self.end(
                publisher, refused: "SRT refused the caller with code \(code): wrong or missing passphrase?",
                .authDenied)
        default: break
        }
    }

    /// Handles the libsrt listener's acceptance. The caller becomes the publisher of the source before it gets the
    /// answer.
    private func established(_ publisher: SRTPublisher, _ answer: ByteBuffer) {
        guard let source = publisher.source, let feed = publisher.feed else { return }
        switch self.core.claim(source, by: publisher) {
        case .deny(let refusal, let reason): self.refuse(publisher, refusal, reason: reason ?? refusal.text)
        case .accept(let hub, let isTakeover):
            self.core.published(publisher)
            publisher.request = nil
            publisher.begin(hub)
            hub.updateStatistics {
                $0.publications += 1
                $0.isPublishing = true
                $0.webRTC = nil
            }
            self.core.logger.info(
                "publishing",
                metadata: [
                    "remote": "\(publisher.remote)", "source": "\(source)", "encoder": "\(publisher.software)",
                ])
            self.core.emit(
                .publishing(
                    source,
                    PublisherInfo(encoder: publisher.software, remote: publisher.remote, isTakeover: isTakeover)))
            if hub.isFull { feed.setPaused(true) }
            feed.deliver(into: hub)
            self.toPeer(answer, publisher.peer)
        }
    }

    // MARK: The end

    private func feedEnded(_ publisher: SRTPublisher, _ reason: String) {
        if publisher.hub != nil {
            self.endPublication(
                publisher, publisher.hasLeft ? .unpublished : .lost(reason))
        } else if !publisher.hasEnded {
            self.refuse(publisher, code: 1503, reason: reason)
        }
        publisher.hasEnded = true
        self.core.closed(publisher)
        let box = NIOLoopBound((self, publisher), eventLoop: self.loop)
        self.loop.scheduleTask(in: Self.leaveTaking) { box.value.0.close(box.value.1) }
    }

    private enum Ending {
        case unpublished
        case lost(String)
        case takenOver
    }

    /// Ends the publication of `publisher`, if it has one, and reports how it ended.
    ///
    /// - Parameter isCut: True if frames that the publisher has already sent must not be shown any more.
    private func endPublication(_ publisher: SRTPublisher, _ ending: Ending, isCut: Bool = false) {
        guard let hub = publisher.takeHub() else { return }
        // First, so that no packet follows the end.
        publisher.feed?.stop()
        hub.updateStatistics { $0.isPublishing = false }
        if isCut { hub.cut() }
        hub.receive([.end])
        self.core.release(hub.source, by: publisher)
        self.core.logger.info("publisher gone", metadata: ["source": "\(hub.source)", "remote": "\(publisher.remote)"])
        switch ending {
        case .unpublished: self.core.emit(.unpublished(hub.source, reason: "unpublished by the encoder"))
        case .lost(let reason): self.core.emit(.lost(hub.source, reason: reason))
        case .takenOver: self.core.emit(.takenOver(hub.source))
        }
    }

    func giveWay(_ publisher: SRTPublisher) {
        self.endPublication(publisher, .takenOver)
        publisher.hasEnded = true
    }

    func refuse(_ publisher: SRTPublisher, _ refusal: PublishRefusal, reason: String) {
        self.refuse(
            publisher, code: refusal.srtCode, reason: reason, refusal.errorCode, isKick: refusal == .kicked)
    }

    /// Disconnects a publisher, or refuses a caller with an SRT rejection code.
    private func refuse(
        _ publisher: SRTPublisher, code: Int, reason: String, _ errorCode: ErrorCode = .requestFailed,
        isKick: Bool = false
    ) {
        guard !publisher.hasEnded else { return }
        if publisher.hub != nil {
            publisher.hasEnded = true
            return self.endPublication(publisher, .lost(reason), isCut: isKick)
        }
        if case .answer(let bytes) = self.front.refuse(publisher.peer, code: code, now: self.core.clock.now()) {
            self.toPeer(ByteBuffer(bytes: bytes), publisher.peer)
        }
        self.end(publisher, refused: reason, errorCode)
    }

    /// Ends a caller's request without sending an answer.
    func drop(_ publisher: SRTPublisher, _ reason: String, _ code: ErrorCode = .authDenied) {
        guard !publisher.hasEnded, publisher.hub == nil else { return }
        // A client that gets no answer gets no log line either.
        self.end(publisher, refused: reason, code, at: .debug)
        self.front.forget(publisher.peer)
        self.publishers[publisher.peer] = nil
    }

    private func end(
        _ publisher: SRTPublisher, refused reason: String, _ code: ErrorCode, at level: Logger.Level = .info
    ) {
        publisher.hasEnded = true
        publisher.question?.cancel()
        publisher.question = nil
        if let request = publisher.request { self.core.giveBack(request) }
        publisher.request = nil
        // Debug lines do not use up the rate limit of the others.
        let isLogged = level > .debug && self.core.mayLog(from: publisher.address)
        self.core.logger.log(
            level: isLogged ? level : .debug, "connection refused",
            metadata: [
                "remote": "\(publisher.remote)", "reason": "\(reason)", "key": "\(publisher.key?.description ?? "")",
            ])
        self.core.emit(.refused(remote: publisher.remote, key: publisher.key, reason: reason, code: code))
        self.core.closed(publisher)
        if let feed = publisher.feed {
            feed.stop()  // feedEnded(_:_:) follows.
        } else {
            self.publishers[publisher.peer] = nil
        }
    }

    /// Closes the loopback channel, after the listener has had time to send its shutdown.
    private func close(_ publisher: SRTPublisher) {
        publisher.relay?.close(promise: nil)
        publisher.relay = nil
        guard self.publishers[publisher.peer] === publisher else { return }
        self.publishers[publisher.peer] = nil
        self.front.release(publisher.peer)
    }

    private func sweep() {
        for peer in self.front.sweep(now: self.core.clock.now()) {
            guard let publisher = self.publishers[peer] else {
                self.front.forget(peer)
                continue
            }
            if publisher.hub != nil {
                publisher.hasEnded = true
                self.endPublication(publisher, .lost("no data received"))
            } else {
                self.drop(publisher, "no data received", .requestFailed)
            }
        }
    }

    /// Refuses all callers from now on, and disconnects the current publishers and waiting callers.
    func stop(_ refusal: PublishRefusal) {
        self.stopRefusal = refusal
        for publisher in self.publishers.values { self.refuse(publisher, refusal, reason: refusal.text) }
    }
}

/// Receives on the loopback channel between the SRT port and one publisher's libsrt listener.
private final class SRTRelay: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let owner: SRTListener
    private let publisher: SRTPublisher

    init(_ owner: SRTListener, _ publisher: SRTPublisher) {
        self.owner = owner
        self.publisher = publisher
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = self.unwrapInboundIn(data)
        self.owner.received(envelope.data, from: envelope.remoteAddress, for: self.publisher)
    }

    /// Ignores the error: it means that nothing listens on the loopback port yet, or no longer.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
