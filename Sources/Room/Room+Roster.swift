import Control
import Ingest
import MediaTypes
import PipelineSpec
import Program
import RTMP
import RoomScenes
import Stages

/// Sources that come and go with the room's document while the room runs.
extension Room {
    /// What is to be done with the sources, made ready.
    struct RosterChange {
        var joining: [Newcomer] = []
        var leaving: [SourceID] = []
    }

    /// A source that is not in the room yet.
    struct Newcomer {
        var slot: SourceSlot
        var program: ProgramStage.Source
        var life: RoomLife.Source
        var ingest: IngestConfiguration.Source
        var relays: [(id: String, url: RTMPURL)]
    }

    /// How long a source that comes back may have to wait for the one of its name to be gone, in milliseconds.
    private static let patience = 2_000

    /// Reads and opens all that those who come need. Nothing has changed when it returns.
    ///
    /// - Parameter isReal: It is going to be applied: a source of the same name that is leaving has to be gone.
    func rosterChange(
        from before: Pipeline, to after: Pipeline, isReal: Bool
    ) throws(ControlFailure) -> RosterChange {
        var change = RosterChange()
        change.leaving = before.sources.map(\.id).filter { after.source($0) == nil }
        for (index, source) in after.sources.enumerated() where before.source(source.id) == nil {
            let path = "sources[\(index)]"
            guard self.listeners.ingest != nil else {
                throw .refused(
                    [
                        SpecMistake(
                            path: path, at: .none, what: "nobody can publish to this room: it began without publishers",
                            fix: "drain this worker and run the new file")
                    ]
                ) { what, fix, _ in .needsRestart(what, fix: fix) }
            }
            if isReal, !self.roster.isFree(source.id, within: Self.patience) {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "\(path): the source \(source.id) that was removed is still on its way out",
                    fix: "send it again when source.removed has been told")
            }
            do throws(MediaError) {
                change.joining.append(try self.newcomer(source, in: after))
            } catch {
                throw .invalidValue(path, error.what, fix: error.fix)
            }
        }
        return change
    }

    private func newcomer(_ source: Pipeline.Source, in pipeline: Pipeline) throws(MediaError) -> Newcomer {
        let slot = SourceSlot(
            spec: source, pipeline: pipeline, clock: self.clock, machine: self.machine, aligner: self.roster.aligner
        ) {
            [weak self] in self?.source($0, did: $1)
        }
        var relays: [(id: String, url: RTMPURL)] = []
        for relay in source.relays {
            let place = "source[\(source.id)].relays[\(relay.relayID)]"
            relays.append((relay.relayID, try Self.url(relay.url, place)))
        }
        let ingest = IngestConfiguration.Source(
            readPatience: ReadPatience(jitterBuffer: Int64(source.jitterBufferMs) * 1_000_000),
            codecs: source.decode.codecs.isEmpty ? nil : Self.names(source.decode.codecs),
            refused: self.initialRefusals()[source.id])
        return Newcomer(
            slot: slot, program: try Self.programSource(slot), life: RoomLife.Source(source, in: pipeline),
            ingest: ingest, relays: relays)
    }

    // MARK: Coming

    /// Those who come are in the room: scenes may name them, and nobody can publish them yet.
    func bringIn(_ change: RosterChange) {
        for newcomer in change.joining {
            let (id, slot) = (newcomer.slot.spec.id, newcomer.slot)
            self.passthrough?.add(id, slot.buffer.coded)
            self.roster.add(slot)
            self.program.add(id, newcomer.program)
            self.value.withLock { $0.scenes.life.add(newcomer.life) }
        }
    }

    /// The document was refused after all.
    func takeBack(_ change: RosterChange) {
        for newcomer in change.joining { self.dismiss(newcomer.slot.spec.id, isTold: false) }
    }

    /// Publishers may come for them, once their keys are known.
    func openDoors(to change: RosterChange) {
        guard let ingest = self.listeners.ingest else { return }
        for newcomer in change.joining {
            let id = newcomer.slot.spec.id
            let hub = ingest.add(id, newcomer.ingest)
            self.input(of: newcomer.slot).join(hub)
            for relay in newcomer.relays { self.listeners.relays?.put(hub, id: relay.id, url: relay.url) }
            self.logger.info("source added", metadata: ["uid": "\(id)"])
            self.events.emit(
                "source.added",
                [
                    "uid": .string(id.description), "streamType": .string(id.streamType.rawValue),
                    "name": JSONValue(newcomer.slot.spec.name),
                ])
        }
    }

    // MARK: Going

    /// A source leaves: at once nobody finds it, and when no scene shows it any more and its sound has faded, its publisher is
    /// sent away and its memory is given back. Returns at once.
    func dismiss(_ id: SourceID, isTold: Bool = true) {
        self.value.withLock { $0.scenes.life.remove(id) }
        guard let slot = self.roster.remove(id) else { return }
        self.program.remove(id) {
            self.roster.depart(slot) {
                self.letGo(of: slot)
            } rest: {
                self.forget(id)
            } last: {
                if isTold { self.tellRemoval(of: slot) }
            }
        }
    }

    private func letGo(of slot: SourceSlot) {
        let id = slot.spec.id
        self.listeners.ingest?.remove(id, .removed)
        self.listeners.relays?.removeAll(of: id)
        self.passthrough?.remove(id)
        self.value.withLock { $0.refusals.remove(id) }
        self.forgetCommanded(id)
    }

    /// What its thread could have said once more.
    private func forget(_ id: SourceID) {
        self.roster.aligner.remove(id)
        self.program.forget(id)
        self.value.withLock { $0.sourceData.forget(id) }
        self.value.withLock { _ = $0.reanchors.removeValue(forKey: id) }
    }

    private func tellRemoval(of slot: SourceSlot) {
        let id = slot.spec.id
        self.logger.info("source removed", metadata: ["uid": "\(id)"])
        self.events.emit(
            "source.removed",
            [
                "uid": .string(id.description), "streamType": .string(id.streamType.rawValue),
                "wasPublishing": .bool(slot.isPublishing),
            ])
    }
}
