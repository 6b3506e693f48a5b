package import MediaTypes
package import Packager
package import PipelineSpec
package import Recording
import Threading

/// The room's recording: makes the files of recording sessions, and emits events about them.
package struct RecordingService: OutputService {
    let host: any OutputsHost

    /// Opens the room's recording.
    ///
    /// - Parameter packager: Returns the packager, which is made after the recorder.
    /// - Returns: nil if the pipeline records nothing.
    /// - Throws: ``MediaError`` if a directory cannot be used.
    package static func open(
        _ output: HLSOutput, _ pipeline: Pipeline, packager: @escaping @Sendable () -> HLSPackager?,
        _ host: @escaping LateHost
    ) throws(MediaError) -> SessionRecorder? {
        guard let settings = RecordingSettings(pipeline) else { return nil }
        let store = DirectoryStore(directory: output.path)
        var clear: (@Sendable (ListedSegmentSet.Track) -> [UInt8]?)?
        if output.encryption != nil {
            clear = { track in packager()?.clearBytes(of: track.segment, track: track.name) }
        }
        return try SessionRecorder.open(
            settings, isActive: pipeline.record?.active ?? true, source: { store.path(of: $0) }, clear: clear,
            report: { host()?.outputs.recording.report($0) }, over: { host()?.outputs.recording.sessionEnded($0) })
    }

    /// Handles a recording session that has ended while the room continues: queues the work that makes its files.
    private func sessionEnded(_ session: SessionRecorder.Session) {
        self.add { [weak host = self.host] isOver in host?.outputs.recording.makeFiles(of: session, until: isOver) }
    }

    /// Makes the files of a session; forgets a session without media. Blocks. If this fails, then it is repeated at the end
    /// of the room.
    private func makeFiles(of session: SessionRecorder.Session, until isOver: @escaping @Sendable () -> Bool) {
        // A session that ended under an earlier worker is reported again when this worker has taken over.
        guard let recorder = self.stages.recorder, recorder.unfinished.contains(session.settings) else { return }
        session.recorder.settle()
        guard !RecordingFinisher(session.settings).isEmpty(wasListed: self.host.wasPlayed) else {
            return recorder.finished(session.settings)
        }
        var report = RecordingReport(
            self.titled(session.settings), events: self.events, clock: self.machine)
        report.isOnAir = true
        report.isCalledOff = isOver
        guard report.finish() == nil else { return }
        self.host.withOutputs { $0.isRecorded = true }
        recorder.finished(session.settings)
    }

    /// Handles events of the recorder. Called on any thread.
    private func report(_ event: Recorder.Event) {
        switch event {
        case .stopped(let error):
            self.logger.error("the recording has stopped", metadata: ["error": "\(error)"])
            self.events.emit("recording.stopped", ["reason": .string(error.description)])
            self.recordingStopped()
            // A live room's recording resumes when there is space again. That of an offline job does not.
            if self.stages.isOffline {
                self.host.lost(of: self.host.pipeline.record?.outputID ?? "record", because: error)
            }
        case .notResumed: self.recordingStopped()
        case .resumed:
            self.logger.info("the recording resumes")
            self.events.emit("recording.resumed", [:])
        }
    }

    private func recordingStopped() {
        let now = self.machine.now()
        self.host.withOutputs { $0.disk.recordingStopped(at: now) }
    }

    /// Makes the files of all recording sessions when the room and its playlists have ended. Otherwise the next worker makes
    /// them.
    ///
    /// - Parameters:
    ///   - hasEnded: Whether the room has ended, so that no other worker continues it.
    ///   - isWhole: False if this worker could not write the end of the playlists.
    ///   - deadline: Time on the monotonic clock. Work that is not done by then is left to the next worker.
    /// - Returns: The error about work that the next worker has to finish; nil if there is none.
    package func finish(hasEnded: Bool, isWhole: Bool, by deadline: Int64) async -> MediaError? {
        guard let recorder = self.stages.recorder else { return nil }
        guard hasEnded, isWhole else {
            await self.leaveSessions()
            guard hasEnded, !recorder.unfinished.isEmpty else { return nil }
            // The worker that ends the playlists must find an unfinished recording: a finished one is not reopened.
            let error = MediaError(
                .unfinished, "the end of the playlists was not written, so the recording is unfinished",
                at: "recording", fix: "start the room again, and end it")
            self.events.emit("recording.unfinished", ["reason": .string(error.description)])
            return error
        }
        self.leaveJobs(by: deadline)
        let clock = self.machine
        return await StageThread.run("end") {
            let thread = StageThread("record") {
                guard self.joinJobs(within: deadline &- clock.now() &+ Self.lastStep) else { return }
                let pendingWork = self.makeRest(recorder, by: deadline)
                self.host.withOutputs { $0.pendingRecordingWork = .some(pendingWork) }
            }
            // The work checks the deadline only between two steps, and a disk may hang within a step.
            let isDone = thread.join(within: deadline &- clock.now() &+ Self.lastStep)
            if isDone, let error = self.host.withOutputs(\.pendingRecordingWork) { return error }
            let error = MediaError(
                .unfinished, "the room has ended, but the disk does not answer, so the recording is unfinished",
                at: "recording",
                fix: "check the disk, then start the room again: that only finishes the recording")
            self.events.emit("recording.unfinished", ["reason": .string(error.description)])
            return error
        }
    }

    /// Makes the files of all recording sessions that have none yet. Blocks.
    ///
    /// - Returns: The first error; nil if there is none.
    private func makeRest(_ recorder: SessionRecorder, by deadline: Int64) -> MediaError? {
        recorder.settle()
        recorder.close()
        var pendingWork: MediaError?
        for settings in recorder.unfinished {
            // If nothing was ever published, then there is no media to make files of.
            guard !RecordingFinisher(settings).isEmpty(wasListed: self.host.wasPlayed) else { continue }
            self.host.withOutputs { $0.isRecorded = true }
            let report = RecordingReport(self.titled(settings), events: self.events, clock: self.machine)
            let error = report.finish(by: deadline)
            pendingWork = pendingWork ?? error
        }
        // The files of sessions that ended under an earlier worker may already exist.
        if recorder.hasFiles { self.host.withOutputs { $0.isRecorded = true } }
        return pendingWork
    }

    /// The settings with the room's current title, which may have changed since the worker started.
    private func titled(_ settings: RecordingSettings) -> RecordingSettings {
        var settings = settings
        settings.title = self.host.pipeline.room.title
        return settings
    }

    /// Stops making files, so that the next worker makes them.
    private func leaveSessions() async {
        self.leaveJobs(by: self.machine.now())
        _ = await StageThread.run("end") { self.joinJobs(within: Self.lastStep) }
    }

    /// Longest time that a step (one segment) may take beyond the deadline, in nanoseconds.
    private static let lastStep: Int64 = 2_000_000_000
}

/// Runs the jobs of ``RecordingJobs``.
extension RecordingService {
    /// Queues the work that makes the files of an ended recording session. It runs on a thread of low priority, so that it
    /// delays no frame of the program. Returns at once.
    func add(_ work: @escaping RecordingJobs.Work) {
        self.host.withOutputs { outputs in
            guard outputs.recordingJobs.add(work) else { return }
            // Set while the room's state is locked, so that the end of the room finds the thread.
            outputs.recordingJobs.thread = StageThread("record", yields: true) { self.runJobs() }
        }
    }

    private func runJobs() {
        while true {
            let now = self.machine.now()
            guard let work = self.host.withOutputs({ $0.recordingJobs.next(at: now) }) else { return }
            work {
                let now = self.machine.now()
                return self.host.withOutputs { $0.recordingJobs.isOver(at: now) }
            }
        }
    }

    /// Sets the deadline of the work when the room ends, on the monotonic clock in nanoseconds. Work that is not done
    /// by then is left to another worker.
    func leaveJobs(by deadline: Int64) { self.host.withOutputs { $0.recordingJobs.deadline = deadline } }

    /// Waits for the queued work. No more work may be added. Blocks.
    ///
    /// - Returns: False if the thread has not ended within this time.
    private func joinJobs(within nanoseconds: Int64) -> Bool {
        let thread = self.host.withOutputs { $0.recordingJobs.thread.take() }
        return thread?.join(within: nanoseconds) ?? true
    }
}
