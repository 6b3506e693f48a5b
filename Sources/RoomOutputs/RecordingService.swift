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
    /// - Throws: ``MediaError`` for a directory that cannot be used.
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

    /// Handles a recording session that has ended while the room continues: makes its files in the background.
    private func sessionEnded(_ session: SessionRecorder.Take) {
        self.add { [weak host = self.host] isOver in host?.outputs.recording.makeFiles(of: session, until: isOver) }
    }

    /// Makes the files of a session. Blocks. If it fails, then it is tried again at the end of the room.
    private func makeFiles(of session: SessionRecorder.Take, until isOver: @escaping @Sendable () -> Bool) {
        // A session that ended before this worker took over is reported again once this worker has taken over.
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

    /// Handles events of the recorder, on its thread.
    private func report(_ event: Recorder.Event) {
        switch event {
        case .stopped(let error):
            self.logger.error("the recording has stopped", metadata: ["error": "\(error)"])
            self.events.emit("recording.stopped", ["reason": .string(error.description)])
            self.recordingStopped()
            // A live room's recording resumes when there is space again. An offline job is not resumed.
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

    /// Makes the files of a room that has ended. A worker that hands the room over leaves the recording to the next
    /// one.
    ///
    /// - Parameters:
    ///   - hasEnded: The room has ended: no other worker continues it.
    ///   - isWhole: The playlists have `EXT-X-ENDLIST`.
    ///   - deadline: On the machine's clock; work that is not done by then is left to the next worker.
    /// - Returns: The work that the next worker has to finish.
    package func finish(hasEnded: Bool, isWhole: Bool, by deadline: Int64) async -> MediaError? {
        guard let recorder = self.stages.recorder else { return nil }
        guard hasEnded, isWhole else {
            await self.leaveSessions()
            guard hasEnded, !recorder.unfinished.isEmpty else { return nil }
            // A finished recording is not reopened, and the worker that ends the playlists adds to this one.
            let error = MediaError(
                .unfinished, "the playlists have not ended", at: "recording", fix: "start the room again, and end it")
            self.events.emit("recording.unfinished", ["reason": .string(error.description)])
            return error
        }
        self.leaveJobs(by: deadline)
        let clock = self.machine
        return await StageThread.run("end") {
            let thread = StageThread("record") {
                guard self.joinJobs(within: deadline &- clock.now() &+ Self.lastStep) else { return }
                let debt = self.makeRest(recorder, by: deadline)
                self.host.withOutputs { $0.recordingDebt = .some(debt) }
            }
            // The work checks the deadline only between steps, and a disk may hang within one.
            let isDone = thread.join(within: deadline &- clock.now() &+ Self.lastStep)
            if isDone, let error = self.host.withOutputs(\.recordingDebt) { return error }
            let error = MediaError(
                .unfinished, "the disk does not answer", at: "recording", fix: "start the room again")
            self.events.emit("recording.unfinished", ["reason": .string(error.description)])
            return error
        }
    }

    /// Makes the files of all sessions that have none yet. Blocks.
    ///
    /// - Returns: The first error.
    private func makeRest(_ recorder: SessionRecorder, by deadline: Int64) -> MediaError? {
        recorder.settle()
        recorder.close()
        var debt: MediaError?
        for settings in recorder.unfinished {
            // A room without any publication has nothing to make files of.
            guard !RecordingFinisher(settings).isEmpty(wasListed: self.host.wasPlayed) else { continue }
            self.host.withOutputs { $0.isRecorded = true }
            let report = RecordingReport(self.titled(settings), events: self.events, clock: self.machine)
            let error = report.finish(by: deadline)
            debt = debt ?? error
        }
        // A session that ended under an earlier worker already has its files.
        if recorder.hasFiles { self.host.withOutputs { $0.isRecorded = true } }
        return debt
    }

    /// The settings with the room's current title, which may have changed since the worker started.
    private func titled(_ settings: RecordingSettings) -> RecordingSettings {
        var settings = settings
        settings.title = self.host.pipeline.room.title
        return settings
    }

    /// Leaves the files being made to the next worker.
    private func leaveSessions() async {
        self.leaveJobs(by: self.machine.now())
        _ = await StageThread.run("end") { self.joinJobs(within: Self.lastStep) }
    }

    /// Nanoseconds that a step, which is one segment, may take beyond the deadline.
    private static let lastStep: Int64 = 2_000_000_000
}

/// Carries out ``RecordingJobs``.
extension RecordingService {
    /// Makes the files of a finished recording session, on a thread of lowest priority, so that it delays no frame of
    /// the program. Returns at once.
    func add(_ work: @escaping RecordingJobs.Work) {
        self.host.withOutputs { outputs in
            guard outputs.recordingJobs.add(work) else { return }
            // Set while the room's value is locked, so that the end of the room finds the thread.
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

    /// Sets the deadline when the room ends, in nanoseconds of the machine's clock: work that is not done by then is
    /// left to another worker.
    func leaveJobs(by deadline: Int64) { self.host.withOutputs { $0.recordingJobs.deadline = deadline } }

    /// Waits for the work that was added. No more work may be added. Blocks.
    ///
    /// - Returns: False if the thread has not ended within this time.
    private func joinJobs(within nanoseconds: Int64) -> Bool {
        let thread = self.host.withOutputs { $0.recordingJobs.thread.take() }
        return thread?.join(within: nanoseconds) ?? true
    }
}
