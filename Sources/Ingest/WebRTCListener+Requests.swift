import HTTPListener
import HTTPTypes
import MediaTypes
import NIOCore
import OpenSSLCrypto
import PipelineSpec
import PublishAuth
import RTMP
import WebRTC

/// The HTTP requests of WHIP clients. Called on the event loop; nothing here waits.
extension WebRTCListener {
    /// Answers a request, at once or later.
    func receive(_ request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void) {
        var asked = WHIPRequest(request)
        if asked.path == "/whip" || asked.path == "/whip/" { asked.path = "/whip/\(self.core.admission.app)" }
        func send(_ reply: WHIPReply) { answer(ListenerReply(reply)) }
        if request.body == .tooLarge {
            return send(
                self.requests.refused(
                    .tooLarge("the body is larger than \(Self.largestBody) bytes"), origin: asked.origin))
        }
        let remote = self.client(of: request)
        if ["POST", "PATCH", "DELETE"].contains(asked.method) {
            let address = remote?.ipAddress.flatMap { IPAddress($0) }
            guard self.posts.take(at: address, now: self.core.clock.now()) else {
                return send(self.requests.refused(.tooManyRequests(retryAfter: 5), origin: asked.origin))
            }
        }
        let decision = self.requests.decision(on: asked) { id in
            self.sessions[id].map {
                WHIPSessionState(etag: $0.etag, remoteUfrag: $0.remoteUfrag, key: $0.sessionKey)
            }
        }
        switch decision {
        case .other:
            if asked.method == "GET" || asked.method == "HEAD", let page = self.settings.page?(asked.path) {
                return answer(page)
            }
            send(self.requests.refused(.noSuchEndpoint, origin: asked.origin))
        case .reply(let reply): send(reply)
        case .publish(let key, let isKeyInHeader, let offer):
            let publisher = WebRTCPublisher(
                self, remote: remote, origin: asked.origin,
                userAgent: request.head.headerFields[.userAgent], number: self.core.number(), answer: { send($0) })
            publisher.sessionKey = isKeyInHeader ? key : nil
            self.publishers[publisher.number] = publisher
            self.withdraw(publisher, with: request.client)
            self.decide(publisher, key: key, offer: offer)
        case .delete(let id):
            self.sessions[id].map { self.unpublish($0) }
            send(self.requests.deleted(origin: asked.origin))
        case .restart(let id, let remote):
            guard let publisher = self.sessions[id] else {
                return send(self.requests.refused(.noSuchSession, origin: asked.origin))
            }
            send(self.restart(publisher, remote, origin: asked.origin))
        }
    }

    private func client(of request: ListenerRequest) -> SocketAddress? {
        let forwarded = HTTPField.Name.xForwardedFor.flatMap { request.head.headerFields[$0] }
        return WHIPProxies.client(
            of: request.client.remoteAddress, forwarded: forwarded, proxies: self.core.configuration.proxies)
    }

    /// Largest body of a request in bytes: that of an offer.
    static let largestBody = 64 << 10

    /// Ends the client if it disconnects before its POST is answered.
    private func withdraw(_ publisher: WebRTCPublisher, with client: ClientPresence) {
        let box = NIOLoopBound((self, publisher), eventLoop: self.loop)
        client.whenGone { [gate = self.core.gate, loop = self.loop] in
            gate.pass {
                loop.execute {
                    let (listener, publisher) = box.value
                    guard publisher.answer != nil else { return }
                    listener.end(publisher, refused: "the client has left", nil)
                }
            }
        }
    }

    // MARK: Admission

    private func decide(_ publisher: WebRTCPublisher, key: String, offer: [UInt8]) {
        self.core.emit(.connected(remote: publisher.remote))
        self.core.opened(publisher, from: publisher.address, on: self.loop)
        guard !publisher.hasEnded else { return }
        if let refusal = self.stopRefusal { return self.refuse(publisher, refusal, reason: refusal.text) }
        guard self.core.admission.allows(publisher.address) else {
            guard self.core.failed(at: publisher.address) == .explain else {
                return self.drop(publisher, "its address is not allowed")
            }
            return self.refuse(publisher, .address, reason: "its address is not allowed")
        }
        let app = self.core.admission.app
        // The app may be part of the key, because encoders have one field for both.
        let isWhole = key.hasPrefix("\(app)/")
        guard let address = StreamAddress(app: isWhole ? "" : app, streamName: key) else {
            return self.turnAway(publisher, .denied, "the stream key is malformed")
        }
        publisher.key = RedactedKey(address, app: app)
        let request = PublishRequest(
            id: publisher.number, address: address, tcURL: "\(self.scheme)://\(self.address)/whip/\(app)",
            flashVersion: "")
        self.identify(publisher, request, offer)
    }

    var scheme: String { self.isSecure ? "https" : "http" }

    private func identify(_ publisher: WebRTCPublisher, _ request: PublishRequest, _ offer: [UInt8]) {
        switch self.core.identify(request) {
        case .deny(let refusal, let reason): self.turnAway(publisher, refusal, reason)
        case .source(let source):
            publisher.request = request
            publisher.source = source
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
            if self.core.configuration.onDuplicate == .reject, self.core.publisher(of: source) != nil {
                return self.refuse(publisher, .busy, reason: PublishRefusal.busy.text)
            }
            self.core.advanced(publisher)
            guard self.negotiate(publisher, source, offer) else { return }
            self.ask(publisher, request)
        }
    }

    /// Asks the webhook, if there is one.
    private func ask(_ publisher: WebRTCPublisher, _ request: PublishRequest) {
        guard let hook = self.core.hook, let client = self.core.client else { return self.accept(publisher) }
        var facts = PublishFacts(
            time: self.core.configuration.wallClock(), connection: publisher.number, address: publisher.address,
            port: publisher.port, app: self.core.admission.app,
            stream: request.address.key(app: self.core.admission.app) ?? "", query: request.address.rawQuery,
            tcURL: request.tcURL, flashVersion: publisher.software, server: self.address)
        facts.scheme = "webrtc"
        let (asked, box, loop) = (facts, NIOLoopBound((self, publisher), eventLoop: self.loop), self.loop)
        publisher.question = Task { [gate = self.core.gate] in
            let verdict = await hook.verdict(on: asked, client)
            gate.pass { loop.execute { box.value.0.answered(verdict, box.value.1) } }
        }
    }

    private func answered(_ verdict: PublishWebhookClient.Verdict, _ publisher: WebRTCPublisher) {
        publisher.question = nil
        guard !publisher.hasEnded, let source = publisher.source else { return }
        if let failure = verdict.failure {
            self.core.logger.warning(
                "the publish webhook failed",
                metadata: ["remote": "\(publisher.remote)", "reason": "\(failure)"])
            self.core.emit(.hookFailed(source, reason: failure, isAllowed: verdict.refusal == nil))
        }
        guard let refusal = verdict.refusal else { return self.accept(publisher) }
        if verdict.failure == nil, self.core.failed(at: publisher.address) == .drop {
            return self.drop(publisher, "refused by the webhook")
        }
        self.refuse(
            publisher, refusal, reason: verdict.failure.map { "webhook: \($0)" } ?? "refused by the webhook")
    }

    // MARK: The session

    /// Answers the offer and makes the session; the POST is answered by ``accept(_:)``.
    ///
    /// - Returns: False if the offer was refused.
    private func negotiate(_ publisher: WebRTCPublisher, _ source: SourceID, _ offer: [UInt8]) -> Bool {
        guard let credentials = ICECredentials(random: Self.random(ICECredentials.randomBytes)),
            let place = WHIPRoute.session(random: Self.random(WHIPRoute.idBytes))
        else {
            self.reply(publisher, .overloaded("no random numbers", retryAfter: 5))
            self.end(publisher, refused: "no random numbers", .requestFailed)
            return false
        }
        let codecs = self.core.configuration.codecs(of: source)
        let settings = AnswerSettings(
            credentials: credentials,
            fingerprint: SDPFingerprint(
                algorithm: self.identity.fingerprint.algorithm, bytes: self.identity.fingerprint.bytes),
            candidates: self.candidates,
            videoCodecs: [CodecName.h264, .vp8, .vp9].filter { codecs.contains($0) },
            takesOpus: codecs.contains(.opus), maxBitrateKbps: self.settings.maxBitrate.map { $0 / 1_000 },
            sessionID: UInt64.random(in: 0...(.max >> 2)))
        do {
            let (offered, answer) = try SDPNegotiation.answer(to: offer, settings: settings)
            var negotiated = offered
            negotiated.nameSoftware(userAgent: publisher.userAgent)
            publisher.session = try WebRTCSession(
                negotiated, credentials: credentials, identity: self.identity,
                localSSRC: UInt32.random(in: 1...(.max)), now: self.core.clock.now(), limits: self.limits,
                maxBitrate: self.settings.maxBitrate)
            publisher.remoteUfrag = negotiated.remoteUfrag
            publisher.answerSettings = settings
            publisher.sessionID = place.id
            publisher.etag = Self.makeETag()
            publisher.pendingAnswer = (place.path, answer)
            return true
        } catch let error as WHIPError {
            self.reply(publisher, error)
            self.end(publisher, refused: error.detail, .unsupportedCodec)
        } catch {
            let refusal = (error as? MediaError).map(WHIPError.noSession) ?? .overloaded("\(error)", retryAfter: 5)
            self.reply(publisher, refusal)
            self.end(publisher, refused: refusal.detail, .requestFailed)
        }
        return false
    }

    /// Answers the POST with 201. From now on the session waits for connectivity checks.
    private func accept(_ publisher: WebRTCPublisher) {
        guard !publisher.hasEnded, let session = publisher.session, let id = publisher.sessionID,
            let (path, answer) = publisher.pendingAnswer
        else { return }
        publisher.pendingAnswer = nil
        self.sessions[id] = publisher
        self.routes.find(publisher, by: session.ufrags)
        publisher.answer?(
            self.requests.created(path: path, etag: publisher.etag, answer: answer, origin: publisher.origin))
        publisher.answer = nil
        // Sets the timer.
        self.with(publisher) { _, _ in }
    }

    private func restart(_ publisher: WebRTCPublisher, _ remote: ICECredentials, origin: String?) -> WHIPReply {
        guard let session = publisher.session, var settings = publisher.answerSettings,
            let credentials = ICECredentials(random: Self.random(ICECredentials.randomBytes))
        else { return self.requests.refused(.noSuchSession, origin: origin) }
        settings.credentials = credentials
        session.restart(credentials: credentials, remote: remote)
        publisher.answerSettings = settings
        publisher.remoteUfrag = remote.ufrag
        publisher.etag = Self.makeETag()
        self.routes.find(publisher, by: session.ufrags)
        return self.requests.restarted(
            etag: publisher.etag, fragment: SDPFragment.answer(settings: settings, session: session.negotiated),
            origin: origin)
    }

    private static func makeETag() -> String { "\"\(Hexadecimal.text(Self.random(8)))\"" }

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    // MARK: Refusals

    /// Answers the POST with an error, unless it was answered.
    func reply(_ publisher: WebRTCPublisher, _ error: WHIPError) {
        publisher.answer?(self.requests.refused(error, origin: publisher.origin))
        publisher.answer = nil
    }

    /// Refuses a wrong key, or a valid one that is used too often, after a delay. A client with too many wrong keys gets
    /// 429 at once.
    private func turnAway(_ publisher: WebRTCPublisher, _ refusal: PublishRefusal, _ reason: String) {
        guard self.core.failed(at: publisher.address) == .explain else { return self.drop(publisher, reason) }
        self.core.denied(publisher)
        let box = NIOLoopBound((self, publisher), eventLoop: self.loop)
        self.loop.scheduleTask(in: .nanoseconds(self.core.configuration.wrongKeyDelay)) {
            box.value.0.refuse(box.value.1, refusal, reason: reason)
        }
    }

    /// Ends a client's request with 429, and logs it at debug level only.
    private func drop(_ publisher: WebRTCPublisher, _ reason: String, _ code: ErrorCode = .authDenied) {
        self.reply(publisher, .tooManyRequests(retryAfter: 5))
        self.end(publisher, refused: reason, code, at: .debug)
    }
}
