package import Control
import Events
package import MediaTypes
package import PipelineSpec
package import RoomAPI
import RoomOutputs

/// The interface of the room for document changes and timed metadata.
extension Room: DocumentHost {
    package func withAPI<Result: Sendable, Failure: Error>(
        _ body: (inout APIState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.value.withLock { value throws(Failure) in try body(&value.api) }
    }

    package func holdingDocument<Result: Sendable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.documentTurn.withLock { _ throws(Failure) in try body() }
    }

    package func setFileAlarm(_ path: String, _ message: String?) {
        let alarm = message.map {
            RoomAlarm("config.invalid", "alert_2", kind: "config", subject: path, message: $0)
        }
        self.value.withLock { $0.configurationAlarm = alarm }
    }

    package func checks(ofRequest request: JSONNode?, isRequest: Bool) throws(ControlFailure) -> SpecChecks {
        guard isRequest else { return RoomChecks.here(wall: self.clocks.wall) }
        let grants = self.grants()
        if let request { try Self.check(request, grants) }
        return RoomChecks.forRequests(grants, wall: self.clocks.wall)
    }

    package func tryOut(_ change: DocumentChange, after current: RoomDocument) throws(ControlFailure) {
        try DocumentApplication(self, from: current.pipeline, to: change.document.pipeline).tryOut()
    }

    package func apply(
        _ change: DocumentChange, after current: RoomDocument, isRequest: Bool
    ) throws(ControlFailure) -> EffectTime? {
        let gate = self.settings.egress
        let before = gate.policy
        // Requests may use the servers and files that the file names now. The policy is set first, before connections
        // to those servers are opened.
        if !isRequest { gate.policy = EgressPolicy(change.document.pipeline) }
        do throws(ControlFailure) {
            let showing = try DocumentApplication(self, from: current.pipeline, to: change.document.pipeline).apply()
            return showing.map { self.scenes.effect(at: $0.tick) }
        } catch {
            if !isRequest { gate.policy = before }
            throw error
        }
    }

    package func noteDocument(_ document: RoomDocument, isNewFile: Bool, after before: RoomDocument) {
        let (file, sceneStore) = self.value.withLock { ($0.api.documents.file, $0.scenes.schedule.sceneStore) }
        if isNewFile { self.saved.store?.setFile(file) }
        if let file { self.saved.record(document, of: file, after: before, sceneStore) }
    }

    package func tick(at text: String?) throws(ControlFailure) -> Int64? { try self.scenes.tick(at: text) }

    package func effect(at tick: Int64?) -> EffectTime { self.scenes.effect(at: tick) }

    package func restart(_ output: RTMPOutput, in pipeline: Pipeline) throws(ControlFailure) -> Bool {
        try self.outputs.pushes.restart(output, in: pipeline)
    }

    package func recordingBegan() { self.withOutputs { $0.disk.recordingBegan() } }

    var document: DocumentService { DocumentService(self) }

    /// Adds timed metadata to the program.
    var metadata: MetadataService {
        MetadataService(self, self.program, packager: self.packager, live: self.live)
    }

    var encoders: EncoderReports {
        EncoderReports(
            ladder: self.ladder, renditions: self.pipeline.renditions, events: self.events, logger: self.logger)
    }

    /// Adds cues to the subtitle renditions.
    var subtitles: SubtitleService { SubtitleService(self, self.program, packager: self.packager) }

    /// Plays the overlays of the pipeline.
    var overlays: OverlayService { OverlayService(self, self.program, self.metadata) }

    /// Sends a publisher's data message to players as metadata of type `source`, at the time when the source's media is
    /// played. Does nothing if the source's `metadata` is off or its rate limit is exceeded.
    ///
    /// - Parameter values: The values of the message: an array, as JSON text.
    func source(_ id: SourceID, says name: String, _ values: String) {
        guard self.pipeline.source(id)?.metadata == true else { return }
        let now = self.machine.now()
        guard self.value.withLock({ $0.sources.data.take(id, now: now) }) else { return }
        let isTaken = self.metadata.add(from: id, name, values)
        self.value.withLock { $0.sources.data.note(id, isTaken: isTaken) }
    }
}

extension LiveFeeds: CueCarrier {}
