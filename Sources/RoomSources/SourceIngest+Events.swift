import Ingest
import MediaTypes
import RoomAPI

extension SourceIngest {
    /// Handles events of the publishers' listener and of the pull clients. Called on their event loops and on the threads of
    /// SRT publishers.
    func handle(_ event: IngestEvent) {
        switch event {
        case .listening, .listeningSecurely, .listeningForSRT, .listeningForWHIP, .connected: break
        case .configuration(let id, let parameters): self.source(id)?.setCodec(parameters)
        case .firstVideo(let id), .firstAudio(let id): self.tell(.arrived, of: id)
        case .publishing(let id, let info):
            let was = self.source(id)?.state
            self.source(id)?.setPublishing(true)
            // `ingest.publishing` is emitted first, because another thread emits the events that follow from it.
            self.events.emit(
                "ingest.publishing",
                [
                    "uid": .string(id.description), "encoder": .string(info.encoder), "remote": .string(info.remote),
                    "takeover": .bool(info.isTakeover), "was": JSONValue(was?.rawValue),
                ])
            let now = self.now
            if info.isTakeover { self.tell(.takenOver, of: id, at: now) }
            self.tell(.published, of: id, at: now)
        case .unsupportedCodec(let id, let codec):
            self.source(id)?.setError("unsupported codec \(codec)")
            self.events.emit(
                "source.undecodable",
                [
                    "uid": .string(id.description), "reason": .string("unsupported codec \(codec)"),
                    "code": .string(ErrorCode.unsupportedCodec.rawValue),
                ])
        case .pulling(let id, let url):
            self.events.emit("pull.connecting", ["uid": .string(id.description), "url": .string(url)])
        case .pullFailed(let id, let reason, let retryMs):
            self.source(id)?.setError(reason)
            self.events.emit(
                "pull.failed",
                ["uid": .string(id.description), "reason": .string(reason), "retryMs": JSONValue(retryMs)])
        // After a takeover the new publication follows at once. ``SourceStateMachine`` receives the event then, so that
        // `ingest.publishing` precedes its events.
        case .takenOver(let id): self.left(id, "ingest.lost", "another connection took over", isTakenOver: true)
        case .flapping(let id, let remote):
            self.events.emit("ingest.flapping", ["uid": .string(id.description), "remote": .string(remote)])
        case .hookFailed(let id, let reason, let isAllowed):
            self.events.emit(
                "ingest.hookFailed",
                ["uid": .string(id.description), "reason": .string(reason), "allowed": .bool(isAllowed)])
        case .data(let id, let name, let values): self.host.received(data: values, named: name, from: id)
        case .keyUsed(let use): self.host.sourceParts.saved.saveUse(use)
        case .unpublished(let id, let reason): self.left(id, "ingest.unpublished", reason)
        case .lost(let id, let reason): self.left(id, "ingest.lost", reason)
        case .refused(let remote, let key, let reason, let code):
            let now = self.now
            guard let silent = self.host.withSources({ $0.refusalReports.tell(remote, code: code, now: now) }) else {
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
        self.source(id)?.setPublishing(false)
        self.events.emit(type, ["uid": .string(id.description), "reason": .string(reason)])
        if !isTakenOver { self.tell(.left(reason: reason), of: id) }
    }

    private func source(_ id: SourceID) -> RoomSource? { self.host.sourceParts.roster.sources[id] }

    private var events: RoomEvents { self.host.sourceParts.events }
    private var now: Int64 { self.host.sourceParts.clocks.machine.now() }

    private func tell(_ event: SourceStateMachine.Event, of id: SourceID, at time: Int64? = nil) {
        self.host.receive(event, of: id, at: time ?? self.now, announce: nil)
    }
}
