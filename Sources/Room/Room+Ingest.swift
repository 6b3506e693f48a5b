import Admission
package import Ingest
import MediaTypes
import PipelineSpec
import Program
import RTMP
import Stages

extension Room {
    /// Admits publishers; `nil` before ``run()`` has made it ready, and if no source of the room has a stream key.
    package var ingest: IngestServer? { self.listeners.ingest }

    /// Opens the RTMP listener and joins every source's decoder to it.
    func startIngest(_ admission: Admission) async throws(MediaError) {
        let ingest = IngestServer(
            configuration: try self.ingestConfiguration(admission), clock: self.machine, logger: self.logger
        ) { [weak self] in self?.ingest(did: $0) }
        for (id, slot) in self.slots {
            guard let hub = ingest.hub(for: id) else { continue }
            self.input(of: slot).join(hub)
        }
        self.listeners.update { $0.ingest = ingest }
        let bound = try await ingest.start()
        if let plain = bound.plain { self.note("rtmp", "rtmp://" + Self.reachable(plain)) }
        if let srt = bound.srt { self.note("srt", "srt://" + Self.reachable(srt)) }
        if let secure = bound.secure { self.note("rtmps", "rtmps://" + Self.reachable(secure)) }
    }

    func input(of slot: SourceSlot) -> SourceInput {
        SourceInput(slot, clock: self.clock, machine: self.machine) { [weak self] in self?.mediaArrived(at: $0) }
    }

    /// A wildcard address is reachable as loopback, which is what a client on this machine writes.
    private static func reachable(_ bound: String) -> String {
        for (wildcard, loopback) in [("0.0.0.0:", "127.0.0.1:"), ("[::]:", "[::1]:")] where bound.hasPrefix(wildcard) {
            return loopback + bound.dropFirst(wildcard.count)
        }
        return bound
    }

    private func ingestConfiguration(_ admission: Admission) throws(MediaError) -> IngestConfiguration {
        let rtmp = self.pipeline.ingest.rtmp
        let isListening = self.settings.opensListeners
        var configuration = IngestConfiguration(
            listen: isListening ? rtmp.listen?.description : nil, admission: self.resumed(admission))
        configuration.wallClock = { [wall = self.clocks.wall] in wall.now() / TimeMath.nanoseconds }
        configuration.onDuplicate = rtmp.onDuplicate == .reject ? .reject : .takeover
        configuration.session.chunkSize = rtmp.chunkSize
        configuration.session.firstMediaTimeout = Int64(rtmp.firstPacketTimeoutMs) * 1_000_000
        configuration.session.mediaIdleTimeout = Int64(rtmp.idleTimeoutMs) * 1_000_000
        configuration.maximumConnections = rtmp.maxConnections
        configuration.maximumWaitingPerAddress = rtmp.maxConnectionsPerAddress
        configuration.session.handshakeTimeout = Int64(rtmp.handshakeTimeoutMs) * 1_000_000
        configuration.session.publishTimeout = Int64(rtmp.publishTimeoutMs) * 1_000_000
        configuration.session.limits.mediaLength = rtmp.maxMessageBytes
        configuration.session.limits.partialBytes = rtmp.maxPartialBytes
        configuration.session.limits.partialMessages = rtmp.maxPartialMessages
        configuration.session.limits.chunkStreams = rtmp.maxChunkStreams
        configuration.session.limits.amfDepth = rtmp.maxAmfDepth
        configuration.proxies = self.pipeline.ingest.proxies
        if isListening, let rtmps = self.pipeline.ingest.rtmps,
            let certificates = try self.openCertificates(rtmps.tls, place: "rtmps")
        {
            configuration.secure = IngestConfiguration.Secure(
                listen: rtmps.listen.description, certificates: certificates)
        }
        configuration.srt = isListening ? try self.srtSettings() : nil
        configuration.refused = self.initialRefusals()
        for (id, slot) in self.slots {
            configuration.readPatience[id] = ReadPatience(jitterBuffer: Int64(slot.spec.jitterBufferMs) * 1_000_000)
        }
        self.setCodecs(&configuration)
        if let hook = try self.hook() {
            configuration.hook = hook
            // Its own deadline comes first, so that it is the one that is told.
            configuration.session.decisionTimeout = hook.timeout + 200_000_000
        }
        return configuration
    }

    /// What the RTMP server reports, on its event loop.
    func ingest(did event: IngestEvent) {
        switch event {
        case .listening, .listeningSecurely, .listeningForSRT, .connected: break
        case .configuration(let id, let parameters): self.slots[id]?.setCodec(parameters)
        case .firstVideo(let id), .firstAudio(let id): self.note(.source(id, .arrived), at: self.machine.now())
        case .publishing(let id, let info):
            let was = self.slots[id]?.state
            self.slots[id]?.setPublishing(true)
            // First what happened at the socket, then what follows from it, which another thread tells.
            self.events.emit(
                "ingest.publishing",
                [
                    "uid": .string(id.description), "encoder": .string(info.encoder), "remote": .string(info.remote),
                    "takeover": .bool(info.isTakeover), "was": JSONValue(was?.rawValue),
                ])
            let now = self.machine.now()
            if info.isTakeover { self.note(.source(id, .takenOver), at: now) }
            self.note(.source(id, .published), at: now)
        case .unsupportedCodec(let id, let codec):
            self.slots[id]?.setError("unsupported codec \(codec)")
            self.events.emit(
                "source.undecodable",
                [
                    "uid": .string(id.description), "reason": .string("codec \(codec)"),
                    "code": .string(ErrorCode.unsupportedCodec.rawValue),
                ])
        case .pulling(let id, let url):
            self.events.emit("pull.connecting", ["uid": .string(id.description), "url": .string(url)])
        case .pullFailed(let id, let reason, let retryMs):
            self.slots[id]?.setError(reason)
            self.events.emit(
                "pull.failed",
                ["uid": .string(id.description), "reason": .string(reason), "retryMs": JSONValue(retryMs)])
        // The life hears of it with the new publication, which follows at once: `ingest.publishing` is told before that.
        case .takenOver(let id): self.left(id, "ingest.lost", "another connection took over", isTakenOver: true)
        case .flapping(let id, let remote):
            self.events.emit("ingest.flapping", ["uid": .string(id.description), "remote": .string(remote)])
        case .hookFailed(let id, let reason, let isAllowed):
            self.events.emit(
                "ingest.hookFailed",
                ["uid": .string(id.description), "reason": .string(reason), "allowed": .bool(isAllowed)])
        case .data(let id, let name, let values): self.source(id, says: name, values)
        case .keyUsed(let use): self.note(use)
        case .unpublished(let id, let reason): self.left(id, "ingest.unpublished", reason)
        case .lost(let id, let reason): self.left(id, "ingest.lost", reason)
        case .refused(let remote, let key, let reason, let code):
            guard let silent = self.value.withLock({ $0.refusalReports.tell(remote, now: self.machine.now()) }) else {
                return
            }
            self.events.emit(
                "ingest.refused",
                [
                    "remote": .string(remote), "key": JSONValue(key.map { "\($0)" }),
                    "code": JSONValue(code?.rawValue), "reason": .string(reason),
                    "untold": JSONValue(silent),
                ])
        }
    }

    private func left(_ id: SourceID, _ type: String, _ reason: String, isTakenOver: Bool = false) {
        self.slots[id]?.setPublishing(false)
        self.events.emit(type, ["uid": .string(id.description), "reason": .string(reason)])
        if !isTakenOver { self.note(.source(id, .left(reason: reason)), at: self.machine.now()) }
    }
}
