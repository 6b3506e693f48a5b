import HLS
package import MediaTypes
package import PipelineSpec
package import Recording
import Stages
import Synchronization

extension RecordingSettings {
    /// What a pipeline asks to be recorded; `nil`: nothing.
    package init?(_ pipeline: Pipeline) {
        guard let record = pipeline.record, let hls = pipeline.hls else { return nil }
        self.init(
            directory: record.path, roomID: pipeline.room.roomID, title: pipeline.room.title,
            movies: pipeline.recordedRenditions.map {
                Movie(video: $0.isAudioOnly ? nil : $0.name, audio: $0.audio.first)
            },
            multivariantName: hls.multivariantPlaylist, keepsSegments: record.vodPlaylist)
        self.waits = pipeline.clock == .offline
    }
}

/// What becomes of a recording, as events.
package struct RecordingReport: Sendable {
    private let events: RoomEvents
    private let settings: RecordingSettings
    private let clock: any MonotonicClock

    /// Nanoseconds between two reports of the progress.
    private static let pace: Int64 = 1_000_000_000

    package init(_ settings: RecordingSettings, events: RoomEvents) {
        self.init(settings, events: events, clock: SystemClock())
    }

    /// - Parameter clock: Paces what is told, and knows when time is up.
    package init(_ settings: RecordingSettings, events: RoomEvents, clock: any MonotonicClock) {
        self.settings = settings
        self.events = events
        self.clock = clock
    }

    /// Makes the files and tells of it. Blocks.
    ///
    /// - Parameters:
    ///   - deadline: Of the clock, in nanoseconds: after the step that passes it the rest is left to another worker; `nil`: there is
    ///     none.
    ///   - advanced: Called after each step.
    /// - Returns: What went wrong; the files are made when the room is started again.
    @discardableResult
    package func finish(by deadline: Int64? = nil, advanced: @escaping () -> Void = {}) -> MediaError? {
        self.events.emit("recording.finishing", ["path": .string(self.settings.directory)])
        do throws(MediaError) {
            let clock = self.clock
            var told = clock.now()
            var now = told
            let finished = try RecordingFinisher(self.settings).run(until: { deadline.map { now > $0 } ?? false }) {
                done, total in
                now = clock.now()
                advanced()
                guard now &- told >= Self.pace else { return }
                told = now
                self.events.emit("recording.progress", ["bytes": JSONValue(done), "of": JSONValue(total)])
            }
            self.events.emit(
                "recording.ready", ["path": .string(self.settings.directory), "recording": finished.summary])
            return nil
        } catch {
            let type = error.code == .unfinished ? "recording.unfinished" : "recording.failed"
            self.events.emit(type, ["reason": .string(error.description)])
            return error
        }
    }
}

extension Room {
    /// Once this worker owns the room.
    func beginRecording() {
        guard let recorder = self.recorder else { return }
        // A room is not refused for what it leaves behind.
        do throws(MediaError) { try recorder.begin() } catch { recorder.stop(error) }
    }

    func recorder(did event: Recorder.Event) {
        switch event {
        case .stopped(let error):
            self.logger.error("nothing is recorded any more", metadata: ["error": "\(error)"])
            self.events.emit("recording.stopped", ["reason": .string(error.description)])
            self.disk.recordingStopped(at: self.machine.now())
        case .notResumed: self.disk.recordingStopped(at: self.machine.now())
        case .resumed:
            self.logger.info("the recording goes on")
            self.events.emit("recording.resumed")
        }
    }

    /// The files of a room that is over; a worker that leaves the room to another leaves it the recording too.
    ///
    /// - Parameter deadline: Of the machine's clock; what is not done by then is left to the next worker.
    /// - Returns: What this worker owes.
    func finishRecording(_ outcome: RoomOutcome, by deadline: Int64) async -> MediaError? {
        guard let recorder = self.recorder, case .ended = outcome,
            let settings = RecordingSettings(self.pipeline)
        else { return nil }
        guard !self.mutable.withLock(\.isEndOwed) else {
            // A recording that is finished takes no worker, and the one who writes the end adds to this one.
            let error = MediaError(
                .unfinished, "the playlists have not ended", at: "recording", fix: "start the room again, and end it")
            self.events.emit("recording.unfinished", ["reason": .string(error.description)])
            return error
        }
        let clock = self.machine
        return await withCheckedContinuation { continuation in
            _ = StageThread("end") {
                let result = Mutex<MediaError??>(nil)
                let thread = StageThread("record") {
                    recorder.settle()
                    // A room that nobody published to has nothing to make files of, and owes none.
                    guard !RecordingFinisher(settings).isEmpty(wasListed: self.wasPlayed) else {
                        return result.withLock { $0 = .some(nil) }
                    }
                    self.mutable.withLock { $0.isRecorded = true }
                    let error = RecordingReport(settings, events: self.events, clock: clock).finish(by: deadline)
                    result.withLock { $0 = .some(error) }
                }
                // Beside the steps it looks at the clock between, a disk may hang in one.
                let isDone = thread.join(within: deadline &- clock.now() &+ Self.lastStep)
                if isDone, let error = result.withLock({ $0 }) { return continuation.resume(returning: error) }
                let error = MediaError(
                    .unfinished, "the disk does not answer", at: "recording", fix: "start the room again")
                self.events.emit("recording.unfinished", ["reason": .string(error.description)])
                continuation.resume(returning: error)
            }
        }
    }

    /// What becomes of the recording, for the room's last word; `null` where there is none, or nothing in it.
    func recordingWord(_ outcome: RoomOutcome, owed: MediaError?) -> JSONValue {
        guard self.recorder != nil, case .ended = outcome else { return .null }
        guard let owed else { return self.mutable.withLock(\.isRecorded) ? "ready" : .null }
        return owed.code == .unfinished ? "unfinished" : "failed"
    }

    /// Nanoseconds that a step may take beyond the deadline: a segment's.
    private static let lastStep: Int64 = 2_000_000_000
}
