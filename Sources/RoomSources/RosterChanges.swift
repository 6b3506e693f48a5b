package import Control
import Ingest
package import MediaTypes
package import PipelineSpec
import Program

/// Adds and removes sources while the room runs, when a new version of the room's document requires it.
///
/// A change has several steps, because other parts of the room can still refuse the document:
/// ``change(from:to:isReal:)`` opens everything that can fail; then ``add(_:)`` or ``remove(_:isReported:)`` is called,
/// then ``begin(_:)``.
package struct RosterChanges: Sendable {
    /// The sources that join and leave, prepared so that the change cannot fail.
    package struct Change {
        package var joining: [Newcomer] = []
        package var leaving: [SourceID] = []
    }

    /// A source that is about to join the room, with everything that it needs.
    package struct Newcomer {
        package var source: RoomSource
        var program: ProgramStage.Source
        /// Settings for the source's publisher; nil for a source that is fetched or read from a file.
        var ingest: IngestConfiguration.Source?
        /// Settings of a source that is fetched over RTMP, or over SRT; nil for other sources.
        var pull: PullSettings?
        var srtPull: SRTPullSettings?
        var relays: [(id: String, url: RTMPURL)]
    }

    /// How long a new source waits until a removed source with the same id has left, in milliseconds.
    private static let patience = 2_000

    let host: any SourcesHost

    private var parts: SourceParts { self.host.sourceParts }

    /// Reads and opens everything that joining sources need. Changes nothing in the room.
    ///
    /// - Parameter isReal: Whether the change will be applied. If so, then this waits up to 2 s for each joining source
    ///   until a removed source with the same id has left.
    /// - Throws: 409 if such a source has not left, or if a joining source needs a publisher and the room admits none; 422
    ///   if something that a joining source needs cannot be read.
    package func change(
        from before: Pipeline, to after: Pipeline, isReal: Bool
    ) throws(ControlFailure) -> Change {
        var change = Change()
        change.leaving = before.sources.map(\.id).filter { after.source($0) == nil }
        for (index, source) in after.sources.enumerated() where before.source(source.id) == nil {
            let path = "sources[\(index)]"
            if case .rtmp = source.input, self.host.ingestion.connections.ingest == nil {
                let mistake = SpecDiagnostic(
                    path: path, at: .none,
                    what: "no publisher can be added to a room that was started without publishers",
                    fix: "drain this worker and start another one with the new file")
                throw .refused([mistake]) { what, fix, _ in .needsRestart(what, fix: fix) }
            }
            if isReal, !self.parts.roster.isFree(source.id, within: Self.patience) {
                throw ControlFailure(
                    code: "requestFailed", number: 1417, status: 409,
                    what: "\(path): the source \(source.id) was removed and has not left the room yet",
                    fix: "send the document again after the event source.removed")
            }
            do throws(MediaError) {
                change.joining.append(try self.newcomer(source, in: after))
            } catch {
                throw .invalidValue(path, error.what, fix: error.fix)
            }
        }
        return change
    }

    private func newcomer(_ spec: Pipeline.Source, in pipeline: Pipeline) throws(MediaError) -> Newcomer {
        let (pull, srtPull) = (try pipeline.pull(spec), try pipeline.srtPull(spec))
        let source = RoomSource(
            spec: spec, pipeline: pipeline, clock: self.parts.program.clock, machine: self.parts.clocks.machine,
            aligner: self.parts.roster.aligner
        ) { [weak host = self.host] in host?.decoding.handle($1, of: $0) }
        var relays: [(id: String, url: RTMPURL)] = []
        for relay in spec.relays { relays.append((relay.relayID, try relay.url(of: spec.id))) }
        try source.probeFile()
        var newcomer = Newcomer(source: source, program: try source.programSource(), relays: relays)
        (newcomer.pull, newcomer.srtPull) = (pull, srtPull)
        guard case .rtmp = spec.input else { return newcomer }
        newcomer.ingest = IngestConfiguration.Source(
            readPatience: ReadDelayLimits(jitterBuffer: Int64(spec.jitterBufferMs) * 1_000_000),
            codecs: spec.decode.codecs.isEmpty ? nil : pipeline.codecs(of: spec),
            refused: self.host.refusing.refused[spec.id])
        return newcomer
    }

    // MARK: Joining

    /// Adds a source to the roster and to the program, so that scenes can show it. It cannot be published yet.
    package func add(_ newcomer: Newcomer) {
        self.parts.roster.add(newcomer.source)
        self.parts.program.add(newcomer.source.spec.id, newcomer.program)
    }

    /// Begins to receive the media of the added sources: publishers are admitted, servers are connected to, files are read.
    /// Also starts their relays and recordings.
    package func begin(_ change: Change) {
        for newcomer in change.joining {
            let id = newcomer.source.spec.id
            if let settings = newcomer.ingest, let hub = self.host.ingestion.connections.ingest?.add(id, settings) {
                self.host.ingestion.join(newcomer.source, to: hub)
            }
            self.host.ingestion.pull(newcomer.source, newcomer.pull, newcomer.srtPull)
            self.host.decoding.startReading(newcomer.source)
            let connections = self.host.ingestion.connections
            if let hub = connections.hub(for: id) {
                for relay in newcomer.relays { connections.relays?.put(hub, id: relay.id, url: relay.url) }
            }
            self.host.sourceRecording.join(newcomer.source.spec)
            self.parts.logger.info("source added", metadata: ["uid": "\(id)"])
            self.parts.events.emit(
                "source.added",
                [
                    "uid": .string(id.description), "streamType": .string(id.streamType.rawValue),
                    "name": JSONValue(newcomer.source.spec.name),
                ])
        }
    }

    // MARK: Leaving

    /// Removes a source. It is not found by lookups from now on. When no scene shows it and its audio has faded out,
    /// its publisher is disconnected and its memory is released. Returns at once.
    ///
    /// - Parameter isReported: Whether `source.removed` is emitted.
    package func remove(_ id: SourceID, isReported: Bool) {
        guard let source = self.parts.roster.remove(id) else { return }
        self.parts.program.remove(id) {
            self.parts.roster.depart(source) {
                self.disconnect(id)
            } rest: {
                self.forget(id)
            } last: {
                if isReported { self.reportRemoval(of: source) }
            }
        }
    }

    private func disconnect(_ id: SourceID) {
        let connections = self.host.ingestion.connections
        connections.ingest?.remove(id, .removed)
        connections.pulls?.remove(id)
        connections.relays?.removeAll(of: id)
        self.host.sourceRecording.leave(id)
        self.host.withSources { $0.refusals.remove(id) }
        self.host.sourceDisconnected(id)
    }

    /// Removes the state of a removed source that its decode thread could change until it ended.
    private func forget(_ id: SourceID) {
        self.parts.roster.aligner.remove(id)
        self.parts.stills.forget(id)
        self.parts.program.forget(id)
        self.host.withSources { state in
            state.data.forget(id)
            state.reanchors[id] = nil
        }
    }

    private func reportRemoval(of source: RoomSource) {
        let id = source.spec.id
        self.parts.logger.info("source removed", metadata: ["uid": "\(id)"])
        self.parts.events.emit(
            "source.removed",
            [
                "uid": .string(id.description), "streamType": .string(id.streamType.rawValue),
                "wasPublishing": .bool(source.isPublishing),
            ])
    }
}
