import Events
import LibAV
import Logging
import MediaTypes
import Recording
import Room
import RoomAPI
import RoomOutputs
import Threading
import UnixSignals

/// Opens a room, runs it to its end, and handles the signals of an orchestrator meanwhile.
enum RoomRunner {
    /// Runs the room of a pipeline until it ends, and returns the exit code of the worker.
    ///
    /// - Parameters:
    ///   - write: Receives each event line.
    ///   - finish: Writes pending event lines before the process ends at once: after a signal before there is a room, or
    ///     because of a stuck offline job.
    ///   - alongside: Called with the room when its listeners are about to open.
    static func run(
        _ settings: RoomSettings, write: @escaping @Sendable (String) -> Void,
        finish: @escaping @Sendable () -> Void = {},
        alongside: @escaping @Sendable (Room) async -> Void = { _ in }
    ) async -> ExitStatus {
        LibAV.limitHeaps()
        RoomProcess.ignoreBrokenPipes()
        if let refusal = ProcessStart.refusal(of: settings.pipeline) {
            return Self.say(refusal, Logger(label: "tandem"))
        }
        // Trapped before secrets are read, so that a SIGHUP that arrives while the room opens is handled once it is
        // open.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let stops = await StopSignals.trap()
        var logger = Logger(label: "tandem")
        logger[metadataKey: LogOutput.IdentityKey.room] = "\(settings.pipeline.room.roomID)"
        logger[metadataKey: LogOutput.IdentityKey.instance] = "\(InstanceName.ofThisProcess)"
        let webhooks: [Webhook]
        do {
            webhooks = try settings.pipeline.webhooks()
        } catch {
            return Self.say(error, logger)
        }
        let directory = settings.pipeline.eventDirectory
        let events = RoomEvents(
            roomID: settings.pipeline.room.roomID, directory: directory,
            vocabularies: settings.pipeline.control.compat, wall: settings.clocks.wall, write: write)
        let delivery = EventDelivery(
            webhooks, of: events.log, roomID: settings.pipeline.room.roomID, directory: directory,
            egress: settings.egress
        ) { events.tell($0, $1) }
        delivery.begin(new: events.log.last)
        let obeying = Task { [logger] in
            await stops.obey(logger) {
                events.close()
                finish()
            }
        }
        let leave: @Sendable (MediaError) -> Void = { [logger] error in
            events.close()
            finish()
            let status = Self.say(error, logger)
            LogOutput.finish()
            RoomProcess.exit(status)
        }
        let tell: @Sendable () async -> Void = {
            events.close()
            await delivery.finish(within: Self.deliveryTime)
            // The outcome of the deliveries is written to disk as well.
            events.close()
        }
        let status = await Self.run(
            settings, events, delivery, logger, hangups, stops, alongside: alongside, leave: leave, tell: tell)
        obeying.cancel()
        await tell()
        return status
    }

    /// Time for webhooks to accept pending events after the room has ended.
    private static let deliveryTime = Duration.seconds(5)

    /// Returns the settings, completed with the versions and logs of this process, and with the renditions of an
    /// earlier worker if the room is continued.
    private static func told(_ settings: RoomSettings) -> RoomSettings {
        var settings = settings
        settings.keepLadder()
        settings.logs = LogOutput.logRing
        settings.versions = [("version", TandemVersion.number), ("ffmpeg", LibAV.version)]
        return settings
    }

    private static func run(
        _ settings: RoomSettings, _ events: RoomEvents, _ delivery: EventDelivery, _ logger: Logger,
        _ hangups: UnixSignalsSequence, _ stops: StopSignals, alongside: @escaping @Sendable (Room) async -> Void,
        leave: @escaping @Sendable (MediaError) -> Void, tell: @escaping @Sendable () async -> Void
    ) async -> ExitStatus {
        if let status = await self.finishEnded(settings, events, logger) { return status }
        let room: Room
        do {
            room = try Room.open(Self.told(settings), events: events, delivery: delivery, logger: logger)
        } catch {
            if error.code == .roomExited, settings.endedIsOK {
                // A service manager treats a service that exits before it is ready as failed.
                ServiceNotifier.open()?.tell(.ended(error.what))
                if let failure = EndedRoom.errorOfJob(settings.pipeline) { return Self.say(failure, logger) }
                return Self.say(.roomOver, error.code.description, logger)
            }
            return Self.say(error, logger)
        }
        stops.attach(room)
        let outcome = await withTaskGroup(of: RoomOutcome?.self) { group in
            group.addTask {
                let outcome = await room.run()
                // All outputs are final before the time begins in which only viewers are served.
                await tell()
                await room.linger(outcome)
                return outcome
            }
            group.addTask {
                for await _ in hangups { room.reloadFiles() }
                return nil
            }
            group.addTask {
                await alongside(room)
                return nil
            }
            group.addTask {
                await JobWatch.follow(room, leave)
                return nil
            }
            group.addTask {
                await ServiceNotifier.open()?.follow { room.serviceView }
                return nil
            }
            var outcome: RoomOutcome?
            while outcome == nil, let next = await group.next() { outcome = next }
            group.cancelAll()
            return outcome ?? .ended
        }
        let result = room.result(outcome)
        switch outcome {
        case .ended:
            if let error = result.error { return Self.say(error, logger) }
            let code = room.damage.isEmpty ? "ok" : result.word
            return Self.say(.roomOver, room.endCode?.rawValue ?? code, logger)
        case .drained: return Self.say(.drained, "ok", logger)
        case .superseded: return Self.say(.drained, ErrorCode.superseded.rawValue, logger)
        case .failed(let error): return Self.say(error, logger)
        }
    }

    /// Logs the worker's last line, with its exit code and reason, and returns `status`.
    static func say(_ status: ExitStatus, _ code: String, _ logger: Logger) -> ExitStatus {
        logger.notice("the worker ends", metadata: ["exit": "\(status.rawValue)", "code": "\(code)"])
        return status
    }

    private static func say(_ error: MediaError, _ logger: Logger) -> ExitStatus {
        StandardError.write("\(error)\n")
        return Self.say(ExitStatus(error), ExitStatus.word(error), logger)
    }

    /// Finishes the pending work of a room that has ended: an earlier worker was stopped before its recording and
    /// uploads were complete.
    ///
    /// - Returns: The exit code; `nil` if the room must be run, because there was no pending work, or because the work
    ///   is done and a new session begins.
    private static func finishEnded(
        _ settings: RoomSettings, _ events: RoomEvents, _ logger: Logger
    ) async -> ExitStatus? {
        EndedRoom.removeLeftovers(settings.pipeline)
        var errors: [MediaError] = []
        var watch: RecoveryStatus?
        let clock = settings.clocks.machine
        events.speakForLastWorker(of: settings.pipeline)
        let pipeline = settings.pipeline
        // A new session continues a recording that has not been finalized, and so does a room that has not ended.
        let hasEnded = !settings.newSession && EndedRoom.exists(pipeline)
        RecordingSettings(pipeline)?.removeLeftovers()
        let due = RecordingSettings(pipeline)?.dueSessions(roomHasEnded: hasEnded) ?? []
        if !due.isEmpty {
            let begun = await RecoveryStatus.begin(
                "finishing the recording", patience: Self.stepPatience, pipeline, clock: clock, logger)
            watch = begun
            for recording in due {
                let error = await StageThread.run("record") {
                    RecordingReport(recording, events: events, clock: clock).finish { begun.advanced() }
                }
                if let error { errors.append(error) }
            }
        }
        var isOwed = watch != nil
        do throws(MediaError) {
            // A new session takes over the directory of the ended one, so the rest of its files is not uploaded.
            if !settings.newSession, let uploads = try PendingUploads.open(pipeline, events: events, clock: clock) {
                isOwed = true
                let doing = "sending the rest of the room to its stores"
                let patience = uploads.time &+ LoopLags.endMargin
                if let watch {
                    watch.proceed(doing, patience: patience)
                } else {
                    watch = await RecoveryStatus.begin(doing, patience: patience, pipeline, clock: clock, logger)
                }
                if let error = await uploads.settle() { errors.append(error) }
            }
        } catch {
            isOwed = true
            errors.append(error)
        }
        await watch?.end(isOver: errors.isEmpty && !settings.newSession)
        guard isOwed else { return nil }
        for error in errors.dropFirst() { StandardError.write("\(error)\n") }
        if let error = errors.first {
            return Self.say(pipeline.clock == .offline ? error : RoomResult.unfinished(error), logger)
        }
        // The earlier worker has already reported that the room is closed, and its outcome.
        events.emit("room.settled", ["outcome": "ended"])
        // A new session begins only now, or reports why it cannot.
        return settings.newSession ? nil : Self.say(.roomOver, "ok", logger)
    }

    /// Nanoseconds that one step of the pending work may take before the worker counts as stuck. The longest step is to
    /// sync a long recording to disk, which takes minutes on a slow disk.
    private static let stepPatience = 300 * TimeMath.nanoseconds
}
