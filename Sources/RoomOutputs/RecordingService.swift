package import MediaTypes
package import Packager
package import PipelineSpec
package import Recording
import Threading

/// The room's recording: makes the files of recording sessions, and reports what becomes of them.
package struct RecordingService: OutputService {
    let host: any OutputsHost

    /// Opens the room's recording.
    ///
    /// - Parameter packager: Gives the packager, which is made after the recorder.
    /// - Returns: nil if nothing is to be recorded.
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

    /// A recording session is over while the room goes on: makes its files in the background.
    private func sessionEnded(_ session: SessionRecorder.Take) {
        self.add { [weak host = self.host] isOver in host?.outputs.recording.makeFiles(of: session, until: isOver) }
    }

    /// Blocks. What goes wrong is tried again when the room is over.
    private func makeFiles(of session: SessionRecorder.Take, until isOver: @escaping @Sendable () -> Bool) {
        // One that was stopped before this worker had the room is told of again when it has.
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

    /// What the recorder reports, on its thread.
    private func report(_ event: Recorder.Event) {
        switch event {
        case .stopped(let error):
            self.logger.error("nothing is recorded any more", metadata: ["error": "\(error)"])
            self.events.emit("recording.stopped", ["reason": .string(error.description)])
            self.recordingStopped()
            // A live room's recording goes on when there is space again; nobody makes space for a job.
            if self.stages.isOffline {
                self.host.lost(of: self.host.pipeline.record?.outputID ?? "record", because: error)
            }
        case .notResumed: self.recordingStopped()
        case .resumed:
            self.logger.info("the recording goes on")
            self.events.emit("recording.resumed", [:])
        }
    }

    private func recordingStopped() {
        let now = self.machine.now()
        self.host.withOutputs { $0.disk.recordingStopped(at: now) }
    }

    /// Makes the files of a room that is over. A worker that leaves the room to another leaves it the recording too.
    ///
    /// - Parameters:
    ///   - hasEnded: The room is over: no other worker goes on with it.
    ///   - isWhole: The playlists have their end.
    ///   - deadline: On the machine's clock; what is not done by then is left to the next worker.
    /// - Returns: What the next worker has to finish.
    package func finish(hasEnded: Bool, isWhole: Bool, by deadline: Int64) async -> MediaError? {
        guard let recorder = self.stages.recorder else { return nil }
        guard hasEnded, isWhole else {
            await self.leaveSessions()
            guard hasEnded, !recorder.unfinished.isEmpty else { return nil }
            // A recording that is finished takes no worker, and the one who writes the end adds to this one.
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
            // Beside the steps it looks at the clock between, a disk may hang in one.
            let isDone = thread.join(within: deadline &- clock.now() &+ Self.lastStep)
            if isDone, let error = self.host.withOutputs(\.recordingDebt) { return error }
            let error = MediaError(
                .unfinished, "the disk does not answer", at: "recording", fix: "start the room again")
            self.events.emit("recording.unfinished", ["reason": .string(error.description)])
            return error
        }
    }

    /// The files of everything that has none yet. Blocks.
    ///
    /// - Returns: The first thing that went wrong.
    private func makeRest(_ recorder: SessionRecorder, by deadline: Int64) -> MediaError? {
        recorder.settle()
        recorder.close()
        var debt: MediaError?
        for settings in recorder.unfinished {
            // A room that nobody published to has nothing to make files of, and owes none.
            guard !RecordingFinisher(settings).isEmpty(wasListed: self.host.wasPlayed) else { continue }
            self.host.withOutputs { $0.isRecorded = true }
            let report = RecordingReport(self.titled(settings), events: self.events, clock: self.machine)
            let error = report.finish(by: deadline)
            debt = debt ?? error
        }
        // A take that was stopped under a worker before this one has its files since then.
        if recorder.hasFiles { self.host.withOutputs { $0.isRecorded = true } }
        return debt
    }

    /// With the room's title of now, which may be another than when the worker came.
    private func titled(_ settings: RecordingSettings) -> RecordingSettings {
        var settings = settings
        settings.title = self.host.pipeline.room.title
        return settings
    }

    /// What is being made is left to the next worker.
    private func leaveSessions() async {
        self.leaveJobs(by: self.machine.now())
        _ = await StageThread.run("end") { self.joinJobs(within: Self.lastStep) }
    }

    /// Nanoseconds that a step may take beyond the deadline: a segment's.
    private static let lastStep: Int64 = 2_000_000_000
}

/// Performs ``RecordingJobs``.
extension RecordingService {
    /// Makes files of a finished recording session, on a thread that gives way to all others, so that no frame of the program is
    /// late for it. Returns at once.
    func add(_ work: @escaping RecordingJobs.Work) {
        self.host.withOutputs { outputs in
            guard outputs.recordingJobs.add(work) else { return }
            // The value is held here, so that the room's end finds the thread.
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

    /// The room is over: what is not done by `deadline`, in nanoseconds of the machine's clock, is left to another worker.
    func leaveJobs(by deadline: Int64) { self.host.withOutputs { $0.recordingJobs.deadline = deadline } }

    /// Waits for the work that has been added, when no more is added. Blocks.
    ///
    /// - Returns: Whether it is done, or left, in so many nanoseconds.
    private func joinJobs(within nanoseconds: Int64) -> Bool {
        let thread = self.host.withOutputs { $0.recordingJobs.thread.take() }
        return thread?.join(within: nanoseconds) ?? true
    }
}
