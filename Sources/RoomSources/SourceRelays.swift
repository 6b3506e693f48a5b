package import Control
import Events
package import Ingest
package import MediaTypes
import PipelineSpec
import RoomAPI

/// Relays sources to other RTMP servers: the relays of the pipeline, and those that commands have started.
package struct SourceRelays: Sendable {
    let host: any SourcesHost

    private var connections: SourceConnections { self.host.ingestion.connections }
    private var relays: RelayService? { self.connections.relays }

    /// Starts the relays of the pipeline.
    ///
    /// - Throws: ``MediaError`` if a URL cannot be read.
    package func start() throws(MediaError) {
        let parts = self.host.sourceParts
        let relays = RelayService(egress: parts.egress, clock: parts.clocks.machine) {
            [weak host = self.host] source, relay, event in
            host?.relaying.report(event, of: relay, source)
        }
        self.host.withSources { $0.connections.relays = relays }
        for source in self.host.pipeline.sources {
            guard let hub = self.connections.hub(for: source.id) else { continue }
            for relay in source.relays { relays.put(hub, id: relay.relayID, url: try relay.url(of: source.id)) }
        }
    }

    /// Restarts a relay that a command to an earlier worker had started.
    ///
    /// - Returns: Why the relay cannot be started; nil if it was started.
    package func resume(_ id: String, of source: SourceID, url text: String) -> String? {
        guard let relays = self.relays, let hub = self.connections.hub(for: source), let url = RTMPURL(text) else {
            return "the source does not exist or cannot be relayed, or the URL is not an RTMP URL"
        }
        if let refusal = self.host.sourceParts.egress.policy.refusal(of: EgressPolicy.Target(url)) {
            return "\(refusal)"
        }
        if relays.put(hub, id: id, url: url) != nil { return nil }
        return "the source already has \(RelayService.maximumPerSource) relays"
    }

    /// Emits an event of a relay. Called on the thread of the relays.
    private func report(_ event: RelayEvent, of relay: RelayStatus, _ source: SourceID) {
        let events = self.host.sourceParts.events
        let (uid, id, url) = (
            JSONValue.string(source.description), JSONValue.string(relay.relayID), JSONValue.string(relay.url)
        )
        switch event {
        case .connecting: events.emit("relay.connecting", ["uid": uid, "id": id, "url": url])
        case .live: events.emit("relay.live", ["uid": uid, "id": id, "url": url])
        case .failed(let reason, let retryMs):
            events.emit(
                "relay.failed",
                ["uid": uid, "id": id, "url": url, "reason": .string(reason), "retryMs": JSONValue(retryMs)])
        case .stopped(let reason):
            events.emit("relay.stopped", ["uid": uid, "id": id, "url": url, "reason": .string(reason)])
        }
    }

    /// The status of each relay of a source.
    package func statuses(of source: SourceID) -> [RelayStatus] { self.relays?.relays(of: source) ?? [] }

    // MARK: Commands

    /// Starts a relay, or changes the server of an existing one.
    ///
    /// - Returns: The reply of the API, as JSON text.
    package func put(
        _ id: String, of uid: String, streamType: String, url: String
    ) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        let source = try self.relayable(uid, streamType)
        guard let address = RTMPURL(url), url.utf8.count <= RTMPURL.longest, url.isVisible else {
            throw .invalidFormat("the URL is not a valid RTMP URL", fix: "send rtmp://host[:port]/app/key", status: 422)
        }
        if let refusal = self.host.sourceParts.egress.policy.refusal(of: EgressPolicy.Target(address)) {
            throw .authDenied("\(refusal)", fix: EgressPolicy.fix)
        }
        let connections = self.connections
        guard let relays = connections.relays, let hub = connections.hub(for: source) else {
            throw .requestFailed("the room is not ready for relays", fix: "repeat the request when the room is ready")
        }
        guard let status = relays.put(hub, id: id, url: address) else {
            throw .limitExceeded(
                "source \(source) already has \(RelayService.maximumPerSource) relays",
                fix: "delete one of its relays")
        }
        self.host.sourceParts.saved.saveRelay(id, of: source, url: url)
        return status.json.text
    }

    /// Ends a relay.
    package func delete(_ id: String, of uid: String, streamType: String) throws(ControlFailure) {
        try self.host.checkOpen()
        let source = try self.relayable(uid, streamType)
        guard let relays = self.relays, relays.remove(source, id: id) else {
            let known = self.statuses(of: source).map(\.relayID)
            throw .notFound(
                "source \(source) has no relay \"\(id)\"",
                fix: known.isEmpty ? "start a relay first" : "use one of: \(known.joined(separator: ", "))")
        }
        self.host.sourceParts.saved.saveRelay(id, of: source, url: nil)
    }

    /// Finds the source of a request.
    ///
    /// - Throws: If there is no such source, or if it is a file, which cannot be relayed.
    private func relayable(_ uid: String, _ streamType: String) throws(ControlFailure) -> SourceID {
        let source = try self.host.source(uid, streamType)
        guard !source.isFile else {
            throw .invalidFormat(
                "source \(source.spec.id) is a file, which has no relays",
                fix: "publish the file to the other room: tandem publish",
                status: 422)
        }
        return source.spec.id
    }
}

extension Pipeline.Relay {
    /// The URL to which a relay of the pipeline sends.
    ///
    /// - Throws: ``MediaError`` if the URL cannot be read.
    func url(of source: SourceID) throws(MediaError) -> RTMPURL {
        try RTMPURL(self.url, place: "source[\(source)].relays[\(self.relayID)]")
    }
}
