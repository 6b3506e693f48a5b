import PublishAuth
package import Ingest
package import MediaTypes
import PipelineSpec
import Secrets

/// Opens the publishers' listener and the clients that fetch sources, and connects both to the decoders.
package struct SourceIngest: Sendable {
    let host: any SourcesHost

    private var parts: SourceParts { self.host.sourceParts }

    /// The open servers and clients.
    package var connections: SourceConnections { self.host.withSources(\.connections) }

    /// Opens the publishers' listener, and connects the decoders of the sources to it.
    ///
    /// - Returns: Name and URL of each listener (`rtmp`, `srt`, `rtmps`, `whip`), as a client on this machine can use it.
    /// - Throws: The errors of ``IngestServer/start()``.
    package func start(
        _ configuration: IngestConfiguration
    ) async throws(MediaError) -> [(name: String, address: String)] {
        let ingest = IngestServer(
            configuration: configuration, clock: self.parts.clocks.machine, logger: self.parts.logger,
            events: self.handler)
        self.join { ingest.hub(for: $0) }
        self.host.withSources { $0.connections.ingest = ingest }
        let bound = try await ingest.start()
        let addresses = [("rtmp", bound.plain), ("srt", bound.srt), ("rtmps", bound.secure)].compactMap {
            name, address in
            address.map { (name: name, address: "\(name)://\(Self.reachable($0))") }
        }
        return addresses + [bound.whip].compactMap { $0.map { (name: "whip", address: $0) } }
    }

    /// Opens the TCP socket of WebRTC publishers, after all other listeners of the room.
    package func openStreams() async { await self.connections.ingest?.openStreams() }

    /// Makes the clients that fetch sources. They connect when ``startPulls()`` is called.
    ///
    /// - Throws: ``MediaError`` if a URL cannot be read or is not allowed.
    package func openPulls() throws(MediaError) {
        let (pulls, calls) = (try self.host.pipeline.pulls(), try self.host.pipeline.srtPulls())
        if pulls.isEmpty, calls.isEmpty { return }
        let service = PullService(pulls, srt: calls, clock: self.parts.clocks.machine, events: self.handler)
        self.join { service.hub(for: $0) }
        for (source, refused) in self.host.refusing.refused { service.hold(source, until: refused.until) }
        self.host.withSources { $0.connections.pulls = service }
    }

    /// Fetches a source that was added while the room runs, over RTMP or SRT. Connects at once, or when the refusal of the
    /// source ends.
    func pull(_ source: RoomSource, _ settings: PullSettings?, _ srt: SRTPullSettings?) {
        guard settings != nil || srt != nil else { return }
        let service =
            self.connections.pulls ?? PullService([], clock: self.parts.clocks.machine, events: self.handler)
        self.host.withSources { $0.connections.pulls = service }
        let deadline = self.host.refusing.refused[source.spec.id]?.until
        let hub =
            settings.map { service.add($0, holdingUntil: deadline) }
            ?? srt.map {
                service.add($0, holdingUntil: deadline)
            }
        if let hub { self.join(source, to: hub) }
    }

    /// Connects to the servers from which sources are fetched.
    package func startPulls() { self.connections.pulls?.start() }

    /// Reads the secret of the publish webhook again. The next request to the webhook uses it.
    ///
    /// - Returns: False if the room admits no publishers, or has no publish webhook, or a webhook without a secret.
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if the secret is a placeholder. The old
    ///   secret then stays in use.
    package func reloadHookSecret() throws(MediaError) -> Bool {
        guard let server = self.connections.ingest, let secret = self.host.pipeline.ingest.onPublish?.secret else {
            return false
        }
        server.replaceHookSecret(try secret.resolved(place: "ingest.onPublish"))
        return true
    }

    /// Passes packets that arrive at `hub` to the decoder of `source`.
    func join(_ source: RoomSource, to hub: SourceHub) {
        let parts = self.parts
        SourceInput(source, clock: parts.program.clock, machine: parts.clocks.machine) { [weak host = self.host] in
            host?.mediaArrived(at: $0)
        }.join(hub)
    }

    private func join(_ hub: (SourceID) -> SourceHub?) {
        for (id, source) in self.parts.roster.sources { if let hub = hub(id) { self.join(source, to: hub) } }
    }

    private var handler: @Sendable (IngestEvent) -> Void {
        { [weak host = self.host] event in host?.ingestion.handle(event) }
    }

    /// The address as a client on this machine can use it: loopback in place of a wildcard address.
    private static func reachable(_ bound: String) -> String {
        for (wildcard, loopback) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")] where bound.hasPrefix(wildcard) {
            return loopback + bound.dropFirst(wildcard.count)
        }
        return bound
    }
}
