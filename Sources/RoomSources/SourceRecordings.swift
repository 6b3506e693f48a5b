package import Control
import Dispatch
package import Events
import Ingest
package import MediaTypes
package import PipelineSpec
import Recording
package import RoomAPI
import Synchronization

/// The running recordings of a room's sources. Any thread may call.
package final class SourceRecordingService: Sendable {
    /// How long the end of the room waits for the writers, in nanoseconds: a disk may hang.
    private static let patience: Int64 = 5_000_000_000

    private struct State {
        var recordings: [SourceID: SourceRecording] = [:]
        /// Stopped recordings whose files are being completed.
        var ending: [SourceRecording] = []
        var suspension: String?
        var isStopped = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Begins the recording that `make` returns, unless the source is being recorded or the service was stopped.
    ///
    /// - Returns: Whether it was begun.
    func start(_ source: SourceID, _ hub: SourceHub, _ make: () -> SourceRecording) -> Bool {
        self.state.withLock { state in
            guard !state.isStopped, state.recordings[source] == nil else { return false }
            let recording = make()
            state.recordings[source] = recording
            if let suspension = state.suspension { recording.suspend(suspension) }
            recording.begin(hub)
            return true
        }
    }

    /// Ends the recording of a source. Returns at once: its file is completed in the background.
    ///
    /// - Returns: Whether the source was being recorded.
    func stop(_ source: SourceID, _ reason: SourceMovieFacts.End) -> Bool {
        let recording = self.state.withLock { state -> SourceRecording? in
            guard let recording = state.recordings.removeValue(forKey: source) else { return nil }
            state.ending.removeAll { $0.status.hasEnded }
            state.ending.append(recording)
            return recording
        }
        recording?.stop(reason)
        return recording != nil
    }

    /// Stops writing all files because the disk is nearly full; nil continues.
    func suspend(_ reason: String?) {
        self.state.withLock { state in
            guard state.suspension != reason else { return }
            state.suspension = reason
            for recording in state.recordings.values { recording.suspend(reason) }
        }
    }

    var all: [SourceID: SourceRecording] { self.state.withLock(\.recordings) }

    /// The running recording of a source; nil if there is none.
    func recording(of source: SourceID) -> SourceRecording? { self.state.withLock { $0.recordings[source] } }

    /// Ends all recordings, and waits until their files and those of recordings stopped before are complete, at most for
    /// ``patience``.
    package func stop() async {
        let (running, ending) = self.state.withLock { state in
            state.isStopped = true
            defer { (state.recordings, state.ending) = ([:], []) }
            return (Array(state.recordings.values), state.ending)
        }
        for recording in running { recording.stop(.workerStopped) }
        let recordings = running + ending.filter { !$0.status.hasEnded }
        if recordings.isEmpty { return }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let group = DispatchGroup()
            for recording in recordings {
                DispatchQueue.global().async(group: group) { recording.join(within: Self.patience) }
            }
            group.notify(queue: .global()) { done.resume() }
        }
    }
}

/// Records sources as their publishers send them: starts and ends recordings by the pipeline, by commands and by changes of
/// the document.
package struct SourceRecordings: Sendable {
    let host: any SourcesHost

    /// How long an alarm stays after packets were dropped, in nanoseconds.
    private static let alarmTime: Int64 = 60_000_000_000

    private var parts: SourceParts { self.host.sourceParts }
    private var service: SourceRecordingService? { self.host.ingestion.connections.recordings }

    /// Starts the recordings that the pipeline or commands to earlier workers demand.
    ///
    /// - Parameter commanded: Whether the recording of a source is on by a command; nil if no command has changed it.
    package func start(_ commanded: (SourceID) -> Bool?) {
        let service = SourceRecordingService()
        self.host.withSources { $0.connections.recordings = service }
        for source in self.host.pipeline.sources {
            guard let record = source.record, commanded(source.id) ?? record.active else { continue }
            self.begin(source.id, record)
        }
    }

    /// Starts the recording of a source that has joined, if the document says so.
    func join(_ source: Pipeline.Source) {
        if let record = source.record, record.active { self.begin(source.id, record) }
    }

    /// Ends the recording of a source that leaves.
    func leave(_ source: SourceID) { self.end(source) }

    /// Follows a change of a source in the document: new settings apply in a new file, which begins with the last key
    /// frame that has arrived.
    package func change(of source: SourceID, from before: Pipeline.SourceRecord?, to after: Pipeline.SourceRecord?) {
        guard before != after else { return }
        self.end(source)
        if let after, after.active { self.begin(source, after) }
    }

    @discardableResult
    private func begin(_ id: SourceID, _ record: Pipeline.SourceRecord) -> Bool {
        guard let service = self.service, let hub = self.host.ingestion.connections.hub(for: id),
            let source = self.parts.roster.sources[id]
        else { return false }
        var fragments = SourceMovieFragmenter.Settings(partDuration: Int64(record.partSeconds) &* 1_000_000_000)
        (fragments.video, fragments.audio) = (record.video, record.audio)
        let roomID = self.host.pipeline.room.roomID
        let settings = SourceMovieRecorder.Settings(
            roomID: roomID, source: id, directory: record.directory, prefix: id.recordingPrefix(in: roomID),
            fragments: fragments)
        return service.start(id, hub) {
            SourceRecording(source, settings, clock: self.parts.program.clock, clocks: self.parts.clocks) {
                [weak host = self.host] event in host?.sourceRecording.report(event, of: id)
            }
        }
    }

    @discardableResult
    private func end(_ id: SourceID) -> Bool { self.service?.stop(id, .stopped) ?? false }

    /// Stops all recordings of sources from writing because the disk is nearly full.
    ///
    /// - Parameter error: What the disk lacks; nil if there is space again.
    package func suspend(because error: MediaError?) { self.service?.suspend(error?.what) }

    // MARK: Commands

    /// Starts or stops the recording of a source.
    ///
    /// - Returns: The reply of the API, as JSON text.
    package func command(_ uid: String, streamType: String, isStart: Bool) throws(ControlFailure) -> String {
        try self.host.checkOpen()
        let source = try self.host.source(uid, streamType)
        let id = source.spec.id
        guard let record = self.host.pipeline.source(id)?.record else {
            throw .conflict(
                "source \(id) has no recording",
                fix: "add \"record\": { \"active\": false } to the source, with PATCH /v1/room")
        }
        guard self.service != nil else {
            throw .conflict("the room is not ready for recordings", fix: "repeat the request when the room is ready")
        }
        if isStart { self.begin(id, record) } else { self.end(id) }
        self.parts.saved.saveRecording(of: id, isOn: isStart == record.active ? nil : isStart)
        let answer: JSONValue = [
            "uid": .string(id.uid), "streamType": .string(id.streamType.rawValue),
            "accepted": isStart ? "start" : "stop", "state": isStart ? "recording" : "stopped",
        ]
        return answer.text
    }

    /// The state of a source's recording for the API; nil if the source has none.
    package func facts(of id: SourceID) -> SourceRecordingFacts? {
        guard self.host.pipeline.source(id)?.record != nil else { return nil }
        return self.service?.recording(of: id)?.facts ?? SourceRecordingFacts(state: .stopped)
    }

    // MARK: Events and alarms

    private func report(_ event: SourceRecording.Event, of id: SourceID) {
        let (events, uid) = (self.parts.events, JSONValue.string(id.description))
        switch event {
        case .recorder(.started(let path, let sidecar)):
            events.emit(
                "source.recording_started",
                [
                    "uid": uid, "publicationId": .string(sidecar.origin.publicationID),
                    "part": JSONValue(sidecar.facts.part), "path": .string(path),
                    "codecs": .array(sidecar.facts.tracks.map { .string($0.codec) }),
                ])
        case .recorder(.finished(let path, let sidecar)):
            func member(_ name: String) -> JSONValue { Self.member(name, of: sidecar) }
            events.emit(
                "source.recording_finished",
                [
                    "uid": uid, "publicationId": member("publicationId"), "part": member("part"),
                    "path": .string(path), "reason": member("reason"), "durationMs": member("durationMs"),
                    "bytes": member("bytes"), "dropped": member("dropped"),
                ])
        case .recorder(.skipped(let track)):
            events.emit(
                "source.recording_skipped",
                [
                    "uid": uid, "kind": .string(track.kind.rawValue), "codec": .string(track.codec.rawValue),
                    "reason": .string(track.reason),
                ])
        case .recorder(.failed(let error)):
            self.parts.logger.error(
                "the recording of a source cannot be written; frames are lost, and writing is tried again every 10 s",
                metadata: ["uid": "\(id)", "error": "\(error)"])
            events.emit("source.recording_failed", ["uid": uid, "reason": .string(error.description)])
        case .dropped(let video, let audio):
            events.emit(
                "source.recording_dropped", ["uid": uid, "video": JSONValue(video), "audio": JSONValue(audio)])
        }
    }

    private static func member(_ name: String, of object: JSONValue) -> JSONValue {
        guard case .object(let members) = object else { return .null }
        return members.first { $0.name == name }?.value ?? .null
    }

    /// The alarms about recordings that lose frames.
    package var alarms: [RoomAlarm] {
        guard let service = self.service else { return [] }
        let now = self.parts.clocks.machine.now()
        return service.all.sorted { $0.key.description < $1.key.description }.compactMap { id, recording in
            let status = recording.status
            var message: String?
            if let suspension = recording.suspension {
                message = "the recording of \(id) is suspended: \(suspension)"
            } else if let failure = status.failure {
                message = "the recording of \(id) cannot be written: \(failure)"
            } else if let droppedAt = status.droppedAt, now &- droppedAt < Self.alarmTime {
                message = "the disk is too slow for the recording of \(id): \(status.dropped) packets dropped"
            }
            return message.map {
                RoomAlarm("source.recording", "alert_2", kind: "source", subject: id.description, message: $0)
            }
        }
    }
}
