import HLS
package import MediaTypes
package import PipelineSpec
package import Recording
package import RoomAPI
import Stages

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
    /// The room goes on: another take may follow.
    package var isOnAir = false
    /// Asked after each step; where it says so, the rest is left to another worker.
    package var isCalledOff: @Sendable () -> Bool = { false }

    /// Nanoseconds between two reports of the progress.
    private static let pace: Int64 = 1_000_000_000

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
        let (path, onAir) = (JSONValue.string(self.settings.directory), JSONValue.bool(self.isOnAir))
        self.events.emit("recording.finishing", ["path": path, "onAir": onAir])
        do throws(MediaError) {
            let clock = self.clock
            var told = clock.now()
            var now = told
            let finished = try RecordingFinisher(self.settings).run(
                until: { self.isCalledOff() || (deadline.map { now > $0 } ?? false) }
            ) { done, total in
                now = clock.now()
                advanced()
                guard now &- told >= Self.pace else { return }
                told = now
                self.events.emit("recording.progress", ["bytes": JSONValue(done), "of": JSONValue(total)])
            }
            self.events.emit("recording.ready", ["path": path, "onAir": onAir, "recording": finished.summary])
            return nil
        } catch {
            let type = error.code == .unfinished ? "recording.unfinished" : "recording.failed"
            self.events.emit(type, ["path": path, "onAir": onAir, "reason": .string(error.description)])
            return error
        }
    }
}

extension RoomOutcome {
    /// What becomes of a room's recording; `null` where there is none, or nothing in it.
    ///
    /// - Parameters:
    ///   - isRecorded: Files were made of it, or were to be.
    ///   - owed: Why not all of them were.
    package func recordingWord(hasRecorder: Bool, isRecorded: Bool, owed: MediaError?) -> JSONValue {
        guard hasRecorder, case .ended = self else { return .null }
        guard let owed else { return isRecorded ? "ready" : .null }
        return owed.code == .unfinished ? "unfinished" : "failed"
    }
}

extension Room {
    /// Once this worker owns the room.
    func beginRecording() { self.recorder?.begin() }

    /// A take is over while the room goes on.
    func takeEnded(_ take: TakeRecorder.Take) {
        self.addRecordingJob { [weak self] isOver in self?.makeFiles(of: take, until: isOver) }
    }

    /// Blocks. What goes wrong is tried again when the room is over.
    private func makeFiles(of take: TakeRecorder.Take, until isOver: @escaping @Sendable () -> Bool) {
        // One that was stopped before this worker had the room is told of again when it has.
        guard let recorder = self.recorder, recorder.unfinished.contains(take.settings) else { return }
        take.recorder.settle()
        guard !RecordingFinisher(take.settings).isEmpty(wasListed: self.wasPlayed) else {
            return recorder.finished(take.settings)
        }
        var report = RecordingReport(self.titled(take.settings), events: self.events, clock: self.machine)
        report.isOnAir = true
        report.isCalledOff = isOver
        guard report.finish() == nil else { return }
        self.value.withLock { $0.lifecycle.isRecorded = true }
        recorder.finished(take.settings)
    }

    func recorder(did event: Recorder.Event) {
        switch event {
        case .stopped(let error):
            self.logger.error("nothing is recorded any more", metadata: ["error": "\(error)"])
            self.events.emit("recording.stopped", ["reason": .string(error.description)])
            self.recordingStopped()
            // A live room's recording goes on when there is space again; nobody makes space for a job.
            if self.isOffline { self.lost(of: self.pipeline.record?.outputID ?? "record", because: error) }
        case .notResumed: self.recordingStopped()
        case .resumed:
            self.logger.info("the recording goes on")
            self.events.emit("recording.resumed")
        }
    }

    private func recordingStopped() {
        let now = self.machine.now()
        self.value.withLock { $0.disk.recordingStopped(at: now) }
    }

    /// The files of a room that is over; a worker that leaves the room to another leaves it the recording too.
    ///
    /// - Parameter deadline: Of the machine's clock; what is not done by then is left to the next worker.
    /// - Returns: What this worker owes.
    func finishRecording(_ outcome: RoomOutcome, by deadline: Int64) async -> MediaError? {
        guard let recorder = self.recorder else { return nil }
        guard case .ended = outcome, !self.value.withLock({ $0.lifecycle.isEndOwed }) else {
            await self.leaveTakes()
            guard case .ended = outcome, !recorder.unfinished.isEmpty else { return nil }
            // A recording that is finished takes no worker, and the one who writes the end adds to this one.
            let error = MediaError(
                .unfinished, "the playlists have not ended", at: "recording", fix: "start the room again, and end it")
            self.events.emit("recording.unfinished", ["reason": .string(error.description)])
            return error
        }
        self.leaveRecordingJobs(by: deadline)
        let clock = self.machine
        return await withCheckedContinuation { continuation in
            _ = StageThread("end") {
                let thread = StageThread("record") {
                    guard self.joinRecordingJobs(within: deadline &- clock.now() &+ Self.lastStep) else { return }
                    let debt = self.makeRest(recorder, by: deadline)
                    self.value.withLock { $0.lifecycle.recordingDebt = .some(debt) }
                }
                // Beside the steps it looks at the clock between, a disk may hang in one.
                let isDone = thread.join(within: deadline &- clock.now() &+ Self.lastStep)
                if isDone, let error = self.value.withLock(\.lifecycle.recordingDebt) {
                    return continuation.resume(returning: error)
                }
                let error = MediaError(
                    .unfinished, "the disk does not answer", at: "recording", fix: "start the room again")
                self.events.emit("recording.unfinished", ["reason": .string(error.description)])
                continuation.resume(returning: error)
            }
        }
    }

    /// The files of everything that has none yet. Blocks.
    ///
    /// - Returns: The first thing that went wrong.
    private func makeRest(_ recorder: TakeRecorder, by deadline: Int64) -> MediaError? {
        recorder.settle()
        recorder.close()
        var debt: MediaError?
        for settings in recorder.unfinished {
            // A room that nobody published to has nothing to make files of, and owes none.
            guard !RecordingFinisher(settings).isEmpty(wasListed: self.wasPlayed) else { continue }
            self.value.withLock { $0.lifecycle.isRecorded = true }
            let report = RecordingReport(self.titled(settings), events: self.events, clock: self.machine)
            let error = report.finish(by: deadline)
            debt = debt ?? error
        }
        // A take that was stopped under a worker before this one has its files since then.
        if recorder.hasFiles { self.value.withLock { $0.lifecycle.isRecorded = true } }
        return debt
    }

    /// With the room's title of now, which may be another than when the worker came.
    private func titled(_ settings: RecordingSettings) -> RecordingSettings {
        var settings = settings
        settings.title = self.pipeline.room.title
        return settings
    }

    /// What is being made is left to the next worker.
    private func leaveTakes() async {
        self.leaveRecordingJobs(by: self.machine.now())
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            _ = StageThread("end") {
                self.joinRecordingJobs(within: Self.lastStep)
                continuation.resume()
            }
        }
    }

    /// What becomes of the recording, for the room's last word.
    func recordingWord(_ outcome: RoomOutcome, owed: MediaError?) -> JSONValue {
        outcome.recordingWord(
            hasRecorder: self.recorder != nil, isRecorded: self.value.withLock(\.lifecycle.isRecorded), owed: owed)
    }

    /// Nanoseconds that a step may take beyond the deadline: a segment's.
    private static let lastStep: Int64 = 2_000_000_000
}
