package import Events
import LibAV
package import MediaTypes
package import Program
import Threading

/// Runs the decode threads of sources and the reader threads of files, and handles their events.
package struct SourceDecoding: Sendable {
    let host: any SourcesHost

    private var parts: SourceParts { self.host.sourceParts }
    private var sources: [SourceID: RoomSource] { self.parts.roster.sources }

    /// Starts the decode thread of every source, including sources that are added later, and the reader thread of every
    /// file that is not quarantined.
    package func start() {
        let program = self.parts.program
        self.parts.roster.start { source in source.start { program.audioPosition } }
        for source in self.sources.values { self.startReading(source) }
    }

    /// Starts to read the file of a file source. Does nothing for other sources, and for a quarantined one.
    func startReading(_ source: RoomSource) {
        // A file in whose decoder two workers crashed is not read; its pane shows the placeholder.
        if self.host.refusing.isRefused(source.spec.id) {
            _ = source.takeReader()
            return
        }
        source.startReading { self.read($0, into: source) }
    }

    private func read(_ reader: FileReader, into source: RoomSource) {
        let machine = self.parts.clocks.machine
        source.setPublishing(true)
        self.tell(.published, of: source.spec.id)
        self.tell(.arrived, of: source.spec.id)
        if source.buffer.isPaced {
            source.buffer.setStatus(.live, at: 0)
        } else {
            self.host.mediaArrived(at: machine.now())
        }
        do {
            try reader.run(into: source.decode) { machine.now() }
        } catch {
            source.setError(error.description)
            self.parts.events.emit(
                "source.failed", ["uid": .string(source.spec.id.description), "reason": .string(error.description)])
            source.decode.put(.end)
        }
    }

    /// The current alarms about the health of publishers.
    ///
    /// - Parameter isOverloaded: Whether an overload alarm is active. Then no alarm is added that the program is behind
    ///   its clock.
    package func alarms(isOverloaded: Bool) -> [RoomAlarm] {
        var alarms: [RoomAlarm] = []
        for spec in self.host.pipeline.sources {
            guard let source = self.sources[spec.id], !source.isFile else { continue }
            for finding in source.healthFindings {
                let (type, level) = (finding.cause.alarmType, finding.level.name)
                guard finding.cause == .workerLag else {
                    let name = source.spec.name ?? spec.id.description
                    alarms.append(
                        RoomAlarm(
                            type, level, kind: "source", subject: spec.id.description,
                            message: "\(name): \(finding.message)"))
                    continue
                }
                // This problem is the worker's own, although it is found with a source.
                if !isOverloaded, !alarms.contains(where: { $0.type == type }) {
                    alarms.append(RoomAlarm(type, level, kind: "encoder", message: finding.message))
                }
            }
        }
        return alarms
    }

    /// Handles an event of a decode thread. Called on that thread.
    package func handle(_ event: DecodeStage.Event, of id: SourceID) {
        let uid = JSONValue.string(id.description)
        let source = self.sources[id]
        switch event {
        case .firstFrame(let format):
            source?.setFormat(format)
            self.firstFrame(of: id, format)
        case .formatChanged(let format):
            source?.setFormat(format)
            self.parts.events.emit("source.format", ["uid": uid, "picture": .string(format.description)])
        case .firstAudio:
            self.tell(.firstAudioDecoded, of: id) { [events = self.parts.events] in
                events.emit("source.sound", ["uid": uid])
            }
        case .undecodable(let error):
            source?.setError(error.description)
            self.parts.logger.warning(
                "a source cannot be decoded", metadata: ["uid": "\(id)", "error": "\(error)"])
            let code: ErrorCode = error.code == .tooLarge ? .inputTooLarge : .unsupportedCodec
            self.parts.events.emit(
                "source.undecodable",
                ["uid": uid, "reason": .string(error.description), "code": .string(code.rawValue)])
        case .reanchored:
            let now = self.parts.clocks.machine.now()
            let count = self.host.withSources {
                $0.reanchors[id, default: EventThrottle(now: now)].happened(now: now)
            }
            if let count { self.emitReanchored(id, count) }
        case .noiseSuppression(let state): self.report(state, of: id)
        case .ended:
            self.tell(source?.isFile == true ? .finished : .drained, of: id)
            // Delayed media of the source may have been on air until now, although its ``SourceStateMachine`` has reported the
            // loss earlier.
            if !self.parts.isOffline { self.host.requestLayout() }
        }
    }

    private func report(_ state: DecodeStage.NoiseState, of id: SourceID) {
        let (word, reason): (String, String) =
            switch state {
            case .suspended: ("suspended", "the machine is overloaded")
            case .resumed: ("resumed", "the machine is no longer overloaded")
            case .failed(let error): ("failed", error.description)
            }
        if case .failed(let error) = state {
            self.sources[id]?.setError(error.description)
            self.parts.logger.warning(
                "the noise of a source is not suppressed", metadata: ["uid": "\(id)", "error": "\(error)"])
        }
        self.parts.events.emit(
            "source.noise_suppression",
            ["uid": .string(id.description), "state": .string(word), "reason": .string(reason)])
    }

    /// Handles the first decoded frame of a publication. `source.first_frame` is emitted before the events that follow
    /// from it.
    private func firstFrame(of id: SourceID, _ format: PictureFormat) {
        let key = self.parts.isOffline ? nil : self.sources[id]?.firstKey
        let elapsed = key.map { (self.parts.clocks.machine.now() &- $0) / 1_000_000 }
        self.tell(.firstFrameDecoded, of: id) { [events = self.parts.events] in
            events.emit(
                "source.first_frame",
                [
                    "uid": .string(id.description), "picture": .string(format.description),
                    "sinceKeyFrameMs": elapsed.map { .integer($0) } ?? .null,
                ])
        }
    }

    private func tell(_ event: SourceStateMachine.Event, of id: SourceID, announce: (@Sendable () -> Void)? = nil) {
        self.host.receive(event, of: id, at: self.host.lifeTime, announce: announce)
    }

    private func emitReanchored(_ id: SourceID, _ count: Int) {
        let reason = self.sources[id]?.decode.timing.lastReason?.rawValue
        self.parts.events.emit(
            "source.reanchored",
            ["uid": .string(id.description), "reason": JSONValue(reason), "count": JSONValue(count)])
    }

    // MARK: Checks once per second

    /// Checks the health of every source, except files and sources that are not live yet. Emits changes of health, and the
    /// timestamp jumps that were not reported yet.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of the monotonic clock.
    ///   - lag: How far the program is behind its clock, in nanoseconds.
    ///   - isWorkerBehind: Whether the worker itself lags, which distorts its measurements of publishers.
    package func watchHealth(now: Int64, lag: Int64, isWorkerBehind: Bool) {
        let sources = self.sources
        for id in self.host.pipeline.sources.map(\.id) {
            guard let source = sources[id], !source.isFile,
                var conditions = SourceHealth.Conditions(source.state)
            else { continue }
            conditions.damaged = source.decode.stats.damaged
            let timing = source.decode.timing
            (conditions.buffered, conditions.depth) = (timing.buffered, timing.depth)
            (conditions.lag, conditions.isWorkerBehind) = (lag, isWorkerBehind)
            let connection = self.host.ingestion.connections.hub(for: id)?.statistics.webRTC
            if let connection { conditions.note(connection) }
            guard let change = source.readHealth(conditions, now: now) else { continue }
            self.parts.events.emit(
                "source.health",
                [
                    "uid": .string(id.description), "level": .string(change.to.name),
                    "was": .string(change.from.name), "causes": .array(change.causes.map { .string($0.rawValue) }),
                    "findings": source.healthFindings.replyValue, "figures": source.healthFigures,
                ])
        }
        self.emitHeldReanchors()
    }

    private func emitHeldReanchors() {
        let now = self.parts.clocks.machine.now()
        let due = self.host.withSources { state in
            state.reanchors.keys.compactMap { id in state.reanchors[id]?.due(now: now).map { (id, $0) } }
        }
        for (id, count) in due { self.emitReanchored(id, count) }
    }
}
