import Dispatch
package import Events
import HLS
package import Logging
package import MediaTypes
package import PipelineSpec
import Program
package import RoomAPI
package import RoomOutputs
import RoomScenes
package import RoomSources
package import Threading
import Synchronization

/// One room: connects the stages, owns their threads, and decides how far a failure spreads.
///
/// States: starting (``open(_:events:logger:)``) → waiting (the program has not started) → live → ending or draining →
/// closed. Clients see ``RoomPhase``, which follows from these states and other facts.
package final class Room: Sendable {
    package enum State: String, Sendable, CaseIterable {
        case starting, waiting, live, ending, draining, closed

        /// The state once the listeners are open: `waiting`, unless the room was asked to stop in the meantime.
        package var opened: State { self == .starting ? .waiting : self }
    }

    let settings: RoomSettings
    /// Records commanded state in `commands.json` for the next worker.
    let saved: CommandRecorder
    /// The current state of the room behind its lock.
    let value: RoomValue
    /// Locked while the document is read and changed, so that changes by two threads cannot overlap.
    let documentTurn = Mutex<Void>(())
    package let events: RoomEvents
    /// Sends the room's events to webhooks; nil if the room was opened without it.
    let delivery: EventDelivery?
    package let logger: Logger
    /// When this worker opened the room: nanoseconds since the Unix epoch, in whole milliseconds.
    let startTime: Int64
    package let sourceParts: SourceParts
    let latencies: RoomLatencies
    /// Carries closed captions of the sources; nil if the pipeline does not ask for it.
    let captions: CaptionSwitch?
    let tap: AudioTap
    /// The stages that produce the outputs: encoders, packager, recorder, uploads and others.
    package let outputStages: OutputStages
    /// The objects that ``scenes`` works with.
    let sceneParts: SceneParts
    /// Controls what the room leaves out while its machine cannot keep up.
    let overload: OverloadControl
    let firstMedia = DispatchSemaphore(value: 0)
    /// Sends stills of the sources to a moderation service; empty if the pipeline has no `moderation`.
    let moderation = LateBound<ModerationService>()

    private init(_ parts: RoomParts, events: RoomEvents, delivery: EventDelivery?) {
        let (settings, logger) = (parts.settings, parts.logger)
        self.settings = settings
        let now = settings.clocks.wall.now()
        self.startTime = now / 1_000_000 * 1_000_000
        self.value = RoomValue(
            RoomState(
                running: settings.pipeline, document: settings.document, parts.resumption, parts.start, now: now))
        self.saved = parts.saved
        self.events = events
        self.delivery = delivery
        self.logger = logger
        self.sourceParts = SourceParts(
            roster: parts.roster, program: parts.program, clocks: settings.clocks, egress: settings.egress,
            logger: logger, opensListeners: settings.opensListeners, isOffline: settings.pipeline.clock == .offline,
            events: events, saved: parts.saved)
        self.overload = OverloadControl(
            self.value.part(\.overload), settings.pipeline, parts.program, parts.outputs.ladder, parts.roster,
            clocks: settings.clocks, events: events, logger: logger)
        self.latencies = parts.latencies
        self.captions = parts.captions
        self.tap = parts.tap
        self.outputStages = parts.outputs
        let times = ProgramTimes(
            parts.program, machine: settings.clocks.machine, fps: settings.pipeline.canvas.fps,
            isOffline: self.sourceParts.isOffline)
        self.sceneParts = SceneParts(
            parts.program, times, parts.saved, machine: settings.clocks.machine, logger: logger
        ) { events.emit($0, $1) }
    }

    /// Opens the room's encoders, files and directories, so that their errors occur before the room is ready.
    ///
    /// - Parameter delivery: Sends the room's events to the webhooks in its document.
    /// - Throws: ``MediaError`` naming what cannot be opened.
    package static func open(
        _ settings: RoomSettings, events: RoomEvents, delivery: EventDelivery? = nil, logger: Logger
    ) throws(MediaError) -> Room {
        for _ in 0..<Self.mostOpenings {
            let resumption = CommandsFile(settings: settings).read()
            if settings.opensListeners { try FreePorts.check(resumption.settings.pipeline) }
            let late = RoomParts.LateRoom()
            guard let parts = try RoomParts.open(settings, resumption, events, logger, late) else { continue }
            let room = Room(parts, events: events, delivery: delivery)
            events.setIncarnation(room.incarnation)
            late.set(room)
            try room.openModeration()
            room.outputs.slate.begin(room.program)
            room.saved.store?.start()
            room.restoration.restoreSources()
            return room
        }
        throw MediaError(
            .notCreatable, "\(CommandedState.name) changes while the room opens", at: "commands",
            fix: "start one worker at a time")
    }

    /// Number of attempts to open the room. Its document can change between the first read of the saved state and the
    /// claim of the room, but not after that.
    private static let mostOpenings = 3

    /// All clocks that the room reads.
    package var clocks: Clocks { self.settings.clocks }
    /// The monotonic clock.
    var machine: any SleepClock { self.clocks.machine }
    /// The clock of the program; it runs once the program has started.
    var clock: ProgramClock { self.program.clock }
    var program: ProgramStage { self.sourceParts.program }
    /// Frames per second of the canvas.
    var fps: Int { self.sceneParts.times.fps }
    package var isOffline: Bool { self.sourceParts.isOffline }
    package var pipeline: Pipeline { self.sharedPipeline.pipeline }
    var sharedPipeline: SharedPipeline { self.value.withLock { $0.api.documents.shared } }
    package var state: State { self.value.withLock { $0.lifecycle.state } }
    /// Outputs that are incomplete when ``run()`` has returned, and that the next worker can complete; nil if there are
    /// none.
    package var pendingWork: MediaError? { self.value.withLock { $0.lifecycle.pendingWork } }
    /// Error code if the room ended by itself because of a limit, such as the idle time; otherwise nil.
    package var endCode: ErrorCode? { self.value.withLock { $0.lifecycle.endCode } }

    /// The address to which a listener was bound; nil if it was not opened.
    ///
    /// - Parameter name: `rtmp`, `rtmps`, `srt`, `whip`, `viewer`, `whep` or `control`.
    package func address(_ name: String) -> String? {
        self.value.withLock { $0.lifecycle.addresses.first { $0.name == name }?.address }
    }

    /// Restores the state that was commanded to earlier workers.
    var restoration: Restoration {
        Restoration(
            host: self, scenes: self.scenes, resumption: self.value.part(\.resumption), saved: self.saved)
    }

    // MARK: Lifecycle

    /// Runs the room until it has ended or this worker stops. When this returns, the files are complete, except those that
    /// ``pendingWork`` or ``damage`` names. The operators' listener and, unless the room is handed over, that of viewers stay open
    /// until ``linger(_:)`` closes them.
    package func run() async -> RoomOutcome {
        // Done before clips can be requested.
        self.pipeline.removeClipLeftovers()
        do {
            try await self.startListeners()
        } catch {
            return await self.close(.failed(error), by: self.machine.now())
        }
        self.value.withLock { $0.lifecycle.state = $0.lifecycle.state.opened }
        self.announceReady()
        self.restoration.announce()
        self.restoration.restoreRecordings()
        self.restoration.reportClips()
        // The end is handled after this worker has reported that it is ready, and before its first tick.
        if self.value.withLock(\.resumption.state.isEnded) { self.end(reason: "control") }
        self.notePhase()
        self.recorder?.begin()
        for upload in self.outputStages.uploads { upload.begin() }
        self.refusing.announceQuarantines()
        self.overload.announce()
        self.encoders.announceAtStart()
        self.ingestion.startPulls()
        let packagerThread = self.packager.map { packager in
            StageThread("package") {
                let outcome = packager.run()
                self.listeners.openGate()
                self.withOutputs { $0.packaged = outcome }
            }
        }
        let transportThreads = self.outputs.transports.start()
        self.decoding.start()
        let life = self.isOffline ? nil : StageThread("life") { self.runLife() }
        let scenes = self.isOffline ? nil : StageThread("scenes") { self.scenes.run() }
        self.outputs.disk.start()
        let images = self.outputs.images.start()
        let outcome = await withCheckedContinuation { continuation in
            _ = StageThread("program", keepsTime: true) { continuation.resume(returning: self.runProgram()) }
        }
        self.finishLife()
        life?.join()
        self.scenes.finish()
        scenes?.join()
        self.tellLevels()
        if !self.isOffline { self.overlays.step(isPaused: false) }
        self.sourceParts.stills.stop()
        self.roster.close()
        let deadline = self.machine.now() &+ Int64(self.pipeline.shutdown.endTimeoutMs) &* 1_000_000
        if self.isOffline {
            packagerThread?.join()
            if self.withOutputs(\.packaged) == .endLost {
                self.oweEnd(.outputLost, "the playlists' end could not be written", fix: "restore the directory")
            }
        } else if packagerThread?.join(within: deadline &- self.machine.now()) == false {
            if case .ended = outcome {
                self.oweEnd(
                    .unfinished, "the playlists' end could not be written in time",
                    fix: "start the room again, and end it")
            } else {
                self.oweEnd(
                    .outputLost, "the last segment could not be written in time",
                    fix: "check the disk; the next worker shows slate in place of the segment")
            }
        }
        self.outputs.transports.finish(transportThreads, hasEnded: outcome.hasEnded, by: deadline)
        self.outputs.disk.stop()
        self.outputStages.snapshots.stop(images)
        self.outputs.clips.close(hasEnded: outcome.hasEnded)
        return await self.close(outcome, by: deadline)
    }

    /// Runs the program thread: waits for the first media, runs the program to its end, and flushes the encoders.
    private func runProgram() -> RoomOutcome {
        if self.isOffline {
            self.mediaArrived(at: 0)
        } else if self.outputStages.slate != nil {
            // Viewers of the previous worker are waiting: the program continues whether or not a publisher is
            // connected.
            self.mediaArrived(at: self.machine.now())
        }
        self.firstMedia.wait()
        if let arrival = self.value.withLock({ $0.firstArrival }), self.value.withLock({ $0.lifecycle.outcome == nil })
        {
            do {
                try self.begin(arrival: arrival)
            } catch {
                if error.code == .superseded { self.superseded() } else { self.fail(error) }
            }
        } else {
            self.beginToEnd()
        }
        // In a new room, viewers' requests wait until the first playlist lists enough segments.
        if self.packager?.opening == nil { self.listeners.openGate() }
        self.program.run()
        // The program may have ended without a command. The room must then count as ending; otherwise it looks like a
        // room whose threads hang.
        if !self.isOffline { self.end(reason: "the program is over") }
        self.ladder.finish()
        self.outputStages.webRTC?.finish()
        let outcome = self.value.withLock { value -> RoomOutcome in
            value.lifecycle.isMade = true
            // A program of files that ends by itself ends the room.
            let outcome = value.lifecycle.outcome ?? .ended
            value.lifecycle.outcome = outcome
            return outcome
        }
        if case .ended = outcome { self.packager?.finish(endlist: true) } else { self.packager?.finish(endlist: false) }
        return outcome
    }

    /// Sets the origin of the program's clock, which determines when each tick is due, and starts the program.
    private func begin(arrival: Int64) throws(MediaError) {
        if self.isOffline {
            let origin = self.settings.origin ?? 0
            _ = try self.packager?.begin(now: origin)
            self.started(origin: origin, firstTick: 0)
            self.program.start(at: 0)
            return
        }
        let slate = self.outputs.slate.take()
        // The first frame is due one jitter buffer after its arrival. The wall clock is read once, here.
        let jitter = self.roomSources.values.map(\.decode.jitterBuffer).min() ?? 200_000_000
        let due = self.outputStages.slate == nil ? arrival &+ jitter : self.machine.now()
        let wall = self.settings.origin ?? (self.clocks.wall.now() &+ (due &- self.machine.now()))
        if let packager = self.packager, packager.opening != nil {
            self.listeners.holdGate()
            packager.whenShown { [weak self] in self?.listeners.openGate() }
        }
        let beginning = try self.packager?.begin(now: wall, slate: slate)
        let (origin, firstTick) = (beginning?.origin ?? wall, beginning?.firstTick ?? 0)
        let time = TimeMath.scale(firstTick, by: TimeMath.nanoseconds, over: Int64(self.fps))
        self.program.prepare(at: firstTick)
        self.clock.start(at: due &+ (origin &+ time &- wall), program: time, origin: origin)
        self.started(origin: origin, firstTick: firstTick)
        self.restoration.restoreProgram(at: firstTick)
        self.program.start(at: firstTick)
    }

    /// Writes the end of earlier workers' playlists if the room ends before this worker has anything to publish.
    private func beginToEnd() {
        guard !self.isOffline, let packager = self.packager, packager.hasPublishedBefore,
            case .ended? = self.value.withLock({ $0.lifecycle.outcome })
        else { return }
        do {
            _ = try packager.begin(now: self.settings.origin ?? self.clocks.wall.now())
        } catch {
            // The room's end was reported already; the newer worker decides about the playlists.
            if error.code == .superseded { return self.value.withLock { $0.lifecycle.outcome = .superseded } }
            self.oweEnd(error.code, error.what, fix: "start the room again, and end it")
        }
    }

    private func started(origin: Int64, firstTick: Int64) {
        self.value.withLock { $0.lifecycle.start(origin: origin, firstTick: firstTick) }
        self.events.setProgramTime(origin: origin) { [weak self] in self?.programTime }
        self.scenes.startCountdowns(at: firstTick)
        self.metadata.beginUserData(origin: origin)
        let without = self.scenes.shown.onAir.without
        self.marks.mark(self.program.scene, without: without, at: firstTick, isScheduled: false)
        self.events.emit(
            "program.started", ["origin": .string(ProgramDate.format(origin)), "firstTick": .integer(firstTick)])
    }

    /// Starts the program: when the first decodable packet of any source arrives, or without media in an offline job and
    /// in a room that begins with slate. Later calls do nothing.
    ///
    /// - Parameter arrival: Time of the packet's arrival on the monotonic clock; without a packet, the current time.
    package func mediaArrived(at arrival: Int64) {
        let isFirst = self.value.withLock { value -> Bool in
            guard value.firstArrival == nil else { return false }
            value.firstArrival = arrival
            return true
        }
        if isFirst { self.firstMedia.signal() }
    }

    /// Ends the room: all stages are flushed and the playlists are closed with `EXT-X-ENDLIST`.
    ///
    /// - Parameter code: Error code of the catalogue if a limit, such as the idle time, ended the room; otherwise nil.
    package func end(reason: String, code: ErrorCode? = nil) { self.stop(.ended, .ending, reason: reason, code) }

    /// Stops this worker; the playlists stay open, and a successor continues the room.
    package func drain(reason: String) { self.stop(.drained, .draining, reason: reason) }

    /// Stops this worker because of an error after which it cannot continue. The room has not ended: the playlists stay
    /// open, and a worker that is started again continues it.
    func fail(_ error: MediaError) {
        self.logger.error("the room cannot continue", metadata: ["error": "\(error)"])
        self.stop(.failed(error), .ending, reason: error.what)
    }

    /// Stops this worker because a newer one has claimed the room, and emits `room.superseded` once. Called when a write
    /// detects the claim.
    package func tellSuperseded() {
        let isFirst = self.value.withLock { value -> Bool in
            defer { value.lifecycle.isSupersededTold = true }
            return !value.lifecycle.isSupersededTold
        }
        if isFirst { self.events.emit("room.superseded") }
        self.superseded()
    }

    func superseded() { self.stop(.superseded, .draining, reason: "a newer worker serves this room") }

    private func stop(_ outcome: RoomOutcome, _ state: State, reason: String, _ code: ErrorCode? = nil) {
        let until = self.stopDeadline()
        // The lock is kept: `room.ending` must be emitted before the `room.state` event that follows from it.
        let isFirst = self.value.withLock { value -> Bool in
            guard value.lifecycle.stop(outcome, state, code, until: until) else { return false }
            self.events.emit(
                "room.\(state.rawValue)",
                [
                    "reason": .string(reason), "code": JSONValue(code?.rawValue),
                    "played": .bool(self.wasPlayed(value)),
                ])
            return true
        }
        guard isFirst else {
            // The room has ended or is ending already: the request ends the linger time, in which viewers are still
            // served.
            self.value.withLock { if state == .draining { $0.lingering.stopAsked() } else { $0.lingering.endAsked() } }
            return
        }
        self.notePhase()
        self.program.stop(atMultipleOf: self.lastTicks(of: outcome))
        if outcome.hasEnded { self.saved.recordEnd() }
        self.firstMedia.signal()
    }

    /// Number of frames that the length of the program must be a multiple of. A drained room ends with a whole segment,
    /// which a successor continues.
    private func lastTicks(of outcome: RoomOutcome) -> Int64 {
        guard case .drained = outcome, !self.isOffline, let output = self.pipeline.hls else { return 1 }
        return Int64(output.gopFrames * output.segmentGops)
    }

    func addPendingWork(_ work: MediaError) { self.value.withLock { $0.lifecycle.add(work) } }

    private func oweEnd(_ code: MediaError.Code, _ what: String, fix: String) {
        self.addPendingWork(MediaError(code, what, at: "hls", fix: fix))
        self.value.withLock { $0.lifecycle.isEndOwed = true }
    }

    /// Completes the outputs, closes the listeners except those that linger, and emits the last events.
    ///
    /// - Parameter deadline: Latest end of the completion, on the monotonic clock.
    private func close(_ outcome: RoomOutcome, by deadline: Int64) async -> RoomOutcome {
        // Runs after the end of the live playlists, which viewers wait for, and while viewers are still served.
        let isWhole = !self.value.withLock(\.lifecycle.isEndOwed)
        async let recorded = self.outputs.recording.finish(
            hasEnded: outcome.hasEnded, isWhole: isWhole, by: deadline)
        async let uploaded = self.outputs.uploads.finish(outcome.uploadEnd, by: deadline)
        let isHandedOver =
            switch outcome {
            case .drained, .superseded: true
            case .ended, .failed: false
            }
        let connections = self.value.withLock { value in
            defer { value.sources.connections = SourceConnections() }
            return value.sources.connections
        }
        await self.moderation.get()?.stop()
        await self.listeners.stop()
        await connections.stop(isHandedOver: isHandedOver)
        if isHandedOver { await self.listeners.stopViewers() }
        let pendingRecordingWork = await recorded
        if let pendingRecordingWork { self.addPendingWork(pendingRecordingWork) }
        if let pendingWork = await uploaded { self.addPendingWork(pendingWork) }
        // A clip that is being made has stopped at its next segment by now.
        self.outputs.clips.join(within: deadline &- self.machine.now())
        self.value.withLock { value in
            value.lifecycle.state = .closed
            value.lifecycle.outcome = value.lifecycle.outcome ?? outcome
        }
        self.notePhase()
        let (result, damage) = (self.result(outcome), self.damage)
        // Recent losses of outputs, and those of an offline job, have no alarm yet.
        if !damage.isEmpty { self.noteAlarms() }
        // The alarms are cleared because an alarm's id names its worker, so no other worker could clear them.
        self.alarms.update([], isLast: true)
        self.saved.close(outcome, isEndOwed: !isWhole, by: deadline)
        var (reason, code): (JSONValue, JSONValue) = (.null, JSONValue(self.endCode?.rawValue))
        if case .failed(let error) = outcome {
            (reason, code) = (.string(error.description), .string(error.code.description))
        }
        // A client that reads `room.closed` may end the linger time at once.
        self.value.withLock { $0.lingering.closed() }
        self.events.emit(
            "room.closed",
            [
                "outcome": .string(result.word), "reason": reason, "code": code, "played": .bool(self.wasPlayed),
                "recording": self.recordingWord(outcome, error: pendingRecordingWork),
                "unfinished": JSONValue(self.pendingWork?.description), "lostSegments": .integer(damage.lostSegments),
                "damage": .array(damage.failures.sorted { $0.key < $1.key }.map { .string($0.value.description) }),
                "summary": self.summary().json,
            ])
        self.events.close()
        return outcome
    }
}
