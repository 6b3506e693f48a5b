import Logging
import MediaTypes
import PublishAuth
import RTMP
import WebRTC

/// The publications of WebRTC clients, from the end of the handshake on.
extension WebRTCListener {
    /// How a publication ends.
    enum Ending {
        case unpublished
        case lost(String)
        case takenOver
    }

    /// Time between two copies of the statistics in nanoseconds.
    private static let reportInterval: Int64 = 1_000_000_000

    /// The handshake is complete: the client becomes the publisher of its source.
    func claim(_ publisher: WebRTCPublisher, _ now: Int64) {
        guard let source = publisher.source, !publisher.hasEnded else { return }
        switch self.core.claim(source, by: publisher) {
        case .deny(let refusal, let reason): self.refuse(publisher, refusal, reason: reason ?? refusal.text)
        case .accept(let hub, let isTakeover):
            self.core.published(publisher)
            publisher.request = nil
            publisher.hasPublished = true
            publisher.begin(hub)
            hub.updateStatistics {
                $0.publications += 1
                $0.isPublishing = true
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
            publisher.seen = []
            publisher.gate.isPaused = hub.isFull
            let first = publisher.gate.begin()
            if !first.isEmpty { self.hand(first, to: hub, of: publisher) }
            self.report(publisher, now)
        }
    }

    /// Media arrives again after silence. A publisher that has taken the source over meanwhile keeps it.
    func claimAgain(_ publisher: WebRTCPublisher, _ now: Int64) {
        guard let source = publisher.source, publisher.hub == nil, !publisher.hasEnded else { return }
        guard self.core.publisher(of: source) == nil else {
            return self.refuse(publisher, .takenOver, reason: "another publisher has taken \(source) over")
        }
        guard self.core.mayPublish(source) else {
            return self.refuse(publisher, .tooOften, reason: "\(source) was published too often")
        }
        self.claim(publisher, now)
        publisher.session?.requestKeyFrames(now: now)
    }

    func deliver(_ items: [SourceItem], _ publisher: WebRTCPublisher) {
        var items = items
        publisher.gate.filter(&items)
        guard let hub = publisher.hub, !items.isEmpty else { return }
        self.hand(items, to: hub, of: publisher)
    }

    private func hand(_ items: [SourceItem], to hub: SourceHub, of publisher: WebRTCPublisher) {
        hub.receive(items)
        for item in items {
            switch item {
            case .configuration(let parameters): self.core.emit(.configuration(hub.source, parameters))
            case .packet(let packet):
                if publisher.seen.count < 2, publisher.seen.insert(packet.kind).inserted {
                    self.core.emit(packet.kind == .video ? .firstVideo(hub.source) : .firstAudio(hub.source))
                }
            case .end: break
            }
        }
    }

    /// The subscribers have room again: video continues with the next key frame.
    func resumed(_ publisher: WebRTCPublisher) { self.requestKeyFrames(publisher) }

    /// Asks for a key frame of every video track.
    func requestKeyFrames(_ publisher: WebRTCPublisher) {
        let now = self.core.clock.now()
        self.with(publisher) { session, _ in session.requestKeyFrames(now: now) }
    }

    /// Copies the session's measurements to the statistics of its source.
    func report(_ publisher: WebRTCPublisher, _ now: Int64) {
        publisher.nextReport = now &+ Self.reportInterval
        guard let session = publisher.session, let hub = publisher.hub else { return }
        let statistics = WebRTCStatistics(session, dropped: publisher.gate.dropped, now: now)
        hub.updateStatistics { $0.webRTC = statistics }
    }

    // MARK: The end

    /// Ends the publication of `publisher`, if it has one, and reports how it ended.
    ///
    /// - Parameter isCut: True if frames that the publisher has already sent must not be shown any more.
    func endPublication(_ publisher: WebRTCPublisher, _ ending: Ending, isCut: Bool = false) {
        self.report(publisher, self.core.clock.now())
        guard let hub = publisher.takeHub() else { return }
        hub.updateStatistics { $0.isPublishing = false }
        if isCut { hub.cut() }
        hub.receive([.end])
        self.core.release(hub.source, by: publisher)
        self.core.logger.info(
            "publisher gone", metadata: ["source": "\(hub.source)", "remote": "\(publisher.remote)"])
        switch ending {
        case .unpublished: self.core.emit(.unpublished(hub.source, reason: "unpublished by the encoder"))
        case .lost(let reason): self.core.emit(.lost(hub.source, reason: reason))
        case .takenOver: self.core.emit(.takenOver(hub.source))
        }
    }

    /// The session has ended by itself or by the publisher.
    func sessionEnded(_ publisher: WebRTCPublisher, _ end: SessionEnd) {
        guard !publisher.hasEnded else { return }
        guard publisher.hasPublished else {
            let code: ErrorCode? =
                switch end {
                case .closedByPeer, .closed: nil
                case .neverChecked, .consentLost: .iceFailed
                case .handshakeTimedOut, .handshakeFailed, .noMedia, .idle: .requestFailed
                }
            return self.end(publisher, refused: end.text, code)
        }
        publisher.hasEnded = true
        self.endPublication(publisher, end == .closedByPeer ? .unpublished : .lost(end.text))
        self.core.closed(publisher)
        self.forget(publisher)
    }

    /// Ends a session by command of this side: close_notify, then nothing more.
    private func close(_ publisher: WebRTCPublisher) {
        publisher.hasEnded = true
        self.with(publisher) { $0.close(into: &$1) }
        self.core.closed(publisher)
        self.forget(publisher)
    }

    /// The client has deleted its session.
    func unpublish(_ publisher: WebRTCPublisher) {
        guard !publisher.hasEnded else { return }
        guard publisher.hasPublished else { return self.end(publisher, refused: "deleted by the client", nil) }
        self.endPublication(publisher, .unpublished)
        self.close(publisher)
    }

    func giveWay(_ publisher: WebRTCPublisher) {
        guard !publisher.hasEnded else { return }
        self.endPublication(publisher, .takenOver)
        self.close(publisher)
    }

    func crowdedOut(_ publisher: WebRTCPublisher) {
        guard !publisher.hasEnded, publisher.hub == nil else { return }
        self.reply(publisher, .overloaded("there are too many connections that do not publish", retryAfter: 2))
        self.end(publisher, refused: "there are too many connections that do not publish", .limitExceeded, at: .debug)
    }

    /// Disconnects a publisher, or refuses a client with the status of `refusal`.
    func refuse(_ publisher: WebRTCPublisher, _ refusal: PublishRefusal, reason: String) {
        guard !publisher.hasEnded else { return }
        if publisher.hub != nil {
            self.endPublication(publisher, .lost(reason), isCut: refusal == .kicked)
            return self.close(publisher)
        }
        // A silent publisher was reported as lost already.
        if publisher.hasPublished, [.ended, .handedOver, .takenOver].contains(refusal) { return self.close(publisher) }
        self.reply(publisher, WHIPError(refusal))
        self.end(publisher, refused: reason, refusal.errorCode)
    }

    /// Ends a client that does not publish, and reports why.
    func end(
        _ publisher: WebRTCPublisher, refused reason: String, _ code: ErrorCode?, at level: Logger.Level = .info
    ) {
        guard !publisher.hasEnded else { return }
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
        self.close(publisher)
    }
}
