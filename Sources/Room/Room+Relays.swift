package import Control
import Ingest
import MediaTypes
import PipelineSpec

extension Room {
    /// Connects the sources that are fetched, and begins the relays the pipeline asks for.
    ///
    /// - Throws: ``MediaError`` for a URL that cannot be read or is not allowed.
    func startClients() throws(MediaError) {
        try self.startPulls()
        let relays = RelayService(egress: self.settings.egress, clock: self.machine) {
            [weak self] source, relay, event in
            self?.relay(of: source, relay, did: event)
        }
        self.listeners.update { $0.relays = relays }
        for source in self.pipeline.sources {
            guard let hub = self.listeners.hub(for: source.id) else { continue }
            for relay in source.relays {
                let place = "source[\(source.id)].relays[\(relay.relayID)]"
                relays.put(hub, id: relay.relayID, url: try Self.url(relay.url, place))
            }
        }
        self.resumeRelays(relays)
    }

    /// Makes what fetches sources; it begins when the room is ready.
    private func startPulls() throws(MediaError) {
        var pulls: [PullSettings] = []
        for source in self.pipeline.sources {
            guard case .pull(let secret) = source.input else { continue }
            let place = "source[\(source.id)]"
            let url = try Self.url(secret, place)
            guard self.pipeline.ingest.pull.allows(url) else {
                throw MediaError(
                    .rejected, "\(url.host):\(url.port) is not in ingest.pull.allowedHosts", at: place,
                    fix: "add it there if it is yours")
            }
            var settings = PullSettings(source: source.id, url: url)
            settings.idleTimeout = Int64(self.pipeline.ingest.rtmp.idleTimeoutMs) * 1_000_000
            settings.codecs = self.codecs(of: source)
            pulls.append(settings)
        }
        let calls = try self.srtPulls()
        if pulls.isEmpty, calls.isEmpty { return }
        let service = PullService(pulls, srt: calls, clock: self.machine) { [weak self] in self?.ingest(did: $0) }
        for (id, slot) in self.slots {
            guard let hub = service.hub(for: id) else { continue }
            self.input(of: slot).join(hub)
        }
        for (source, refused) in self.initialRefusals() { service.hold(source, until: refused.until) }
        self.listeners.update { $0.pulls = service }
    }

    static func url(_ secret: Secret, _ place: String) throws(MediaError) -> RTMPURL {
        guard let url = RTMPURL(try secret.resolved(place: place)) else {
            throw MediaError(.rejected, "the URL is not rtmp://host[:port]/app/key", at: place, fix: "correct it")
        }
        return url
    }

    /// What the relays report, on their thread.
    private func relay(of source: SourceID, _ relay: RelayStatus, did event: RelayEvent) {
        let (uid, id, url) = (
            JSONValue.string(source.description), JSONValue.string(relay.relayID), JSONValue.string(relay.url)
        )
        switch event {
        case .connecting: self.events.emit("relay.connecting", ["uid": uid, "id": id, "url": url])
        case .live: self.events.emit("relay.live", ["uid": uid, "id": id, "url": url])
        case .failed(let reason, let retryMs):
            self.events.emit(
                "relay.failed",
                ["uid": uid, "id": id, "url": url, "reason": .string(reason), "retryMs": JSONValue(retryMs)])
        case .stopped(let reason):
            self.events.emit("relay.stopped", ["uid": uid, "id": id, "url": url, "reason": .string(reason)])
        }
    }

    /// The relays of a source, for the state.
    func relaysJSON(_ source: SourceID) -> JSONValue {
        .array((self.listeners.relays?.relays(of: source) ?? []).map(Self.json))
    }

    private static func json(_ relay: RelayStatus) -> JSONValue {
        [
            "id": .string(relay.relayID), "url": .string(relay.url), "state": .string(relay.state.rawValue),
            "bytes": .integer(Int64(clamping: relay.bytes)), "dropped": JSONValue(relay.dropped),
            "retries": JSONValue(relay.retries), "lastError": JSONValue(relay.lastError),
        ]
    }

    // MARK: Control

    package func putRelay(
        uid: String, streamType: String, relayID: String, url: String
    ) throws(ControlFailure) -> String {
        try self.checkOpen()
        let source = try self.relayable(uid, streamType)
        guard let address = RTMPURL(url), url.utf8.count <= 1024, url.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw .invalidFormat("the URL cannot be relayed to", fix: "send rtmp://host[:port]/app/key", status: 422)
        }
        if let refusal = self.settings.egress.policy.refusal(of: EgressPolicy.Target(address)) {
            throw .authDenied("\(refusal)", fix: Self.egressFix)
        }
        guard let relays = self.listeners.relays, let hub = self.listeners.hub(for: source) else {
            throw .requestFailed("the room is not ready for relays", fix: "ask again once it is ready")
        }
        guard let status = relays.put(hub, id: relayID, url: address) else {
            throw .limitExceeded(
                "source \(source) goes to \(RelayService.maximumPerSource) rooms already",
                fix: "delete one of its relays")
        }
        self.noteCommanded(source, relay: relayID, url: url)
        return Self.json(status).text
    }

    package func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure) {
        try self.checkOpen()
        let source = try self.relayable(uid, streamType)
        guard let relays = self.listeners.relays, relays.remove(source, id: relayID) else {
            let known = (self.listeners.relays?.relays(of: source) ?? []).map(\.relayID)
            throw .notFound(
                "source \(source) has no relay \"\(relayID)\"",
                fix: known.isEmpty ? "it has none" : "use one of: \(known.joined(separator: ", "))")
        }
        self.noteCommanded(source, relay: relayID, url: nil)
    }

    /// The source, if there is one whose packets come from outside.
    private func relayable(_ uid: String, _ streamType: String) throws(ControlFailure) -> SourceID {
        guard let type = StreamType(rawValue: streamType), let slot = self.slots[SourceID(uid, type)] else {
            let known = self.pipeline.sources.map(\.id.description).joined(separator: ", ")
            throw .notFound("this room has no source \(uid) (\(streamType))", fix: "use one of: \(known)")
        }
        guard !slot.isFile else {
            throw .invalidFormat(
                "source \(slot.spec.id) is a file", fix: "publish the file to the other room: tandem publish",
                status: 422)
        }
        return slot.spec.id
    }
}
