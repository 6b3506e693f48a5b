import Control
import Dispatch
import Events
import HLS
import Ingest
import Encoding
import LibAV
import Logging
package import MediaTypes
import Origin
import Packager
package import PipelineSpec
import Program
import Recording
package import RoomOutputs
import RoomScenes
package import RoomSources
import Threading
import Synchronization

/// One room: wires the stages, owns their threads, decides how far a failure spreads.
///
/// States: starting (``open(_:events:logger:)``) → waiting (nobody has published) → live → ending or draining → closed.
/// ``run()`` goes through all of them once. What others are told is ``RoomPhase``, which follows from them and more.
package final class Room: Sendable {
    package enum State: String, Sendable, CaseIterable {
        case starting, waiting, live, ending, draining, closed

        /// What it is once the listeners are open: a room that was told to stop meanwhile goes on stopping.
        package var opened: State { self == .starting ? .waiting : self }
    }

    let settings: RoomSettings
    /// Writes down what is commanded; `nil`: no later worker could find it.
    let commands: CommandStore?
    /// What the room is at this moment.
    let value: Mutex<RoomState>
    /// Held while the document is changed or used as a whole: no other version of it comes between.
    let documentTurn = Mutex<Void>(())
    package let events: RoomEvents
    /// Sends them to the webhooks; `nil`: nobody does.
    let delivery: EventDelivery?
    let logger: Logger
    /// Every clock the room reads.
    let clocks: Clocks
    /// When this worker opened the room: nanoseconds since the Unix epoch, in whole milliseconds.
    let startTime: Int64
    let clock: ProgramClock
    package let sourceParts: SourceParts
    let program: ProgramStage
    let latencies: RoomLatencies
    /// What the outputs are made of.
    package let outputStages: OutputStages
    /// What ``scenes`` uses.
    let sceneParts: SceneParts
    /// Where the level of an overload is written down: a disk that hangs holds up nothing else.
    let overloadWrites = DispatchQueue(label: "overload")
    let firstMedia = DispatchSemaphore(value: 0)
    /// Outputs that no viewer waits for leave their frames out; asked at every tick.
    let outputsPaused = Atomic<Bool>(false)
    /// The program makes up ticks of a time in which the machine stood still.
    let isCatchingUp = Atomic<Bool>(false)
    /// Frames a second of the canvas.
    let fps: Int
    package let isOffline: Bool

    init(
        settings: RoomSettings, events: RoomEvents, delivery: EventDelivery?, logger: Logger, parts: RoomParts
    ) {
        self.settings = settings
        self.clocks = settings.clocks
        let now = settings.clocks.wall.now()
        self.startTime = now / 1_000_000 * 1_000_000
        self.value = Mutex(
            RoomState(
                running: settings.pipeline, document: settings.document, parts.resumption, parts.start, now: now))
        self.fps = settings.pipeline.canvas.fps
        self.isOffline = settings.pipeline.clock == .offline
        self.commands = parts.commands
        self.events = events
        self.delivery = delivery
        self.logger = logger
        self.clock = parts.clock
        self.sourceParts = SourceParts(
            roster: parts.roster, program: parts.program, clock: parts.clock, clocks: settings.clocks,
            egress: settings.egress, logger: logger, opensListeners: settings.opensListeners,
            isOffline: settings.pipeline.clock == .offline, events: SourceEvents { events.emit($0, $1) })
        self.program = parts.program
        self.latencies = parts.latencies
        self.outputStages = parts.outputs
        let times = ProgramTimes(
            parts.program, machine: settings.clocks.machine, fps: self.fps, isOffline: self.isOffline)
        self.sceneParts = SceneParts(parts.program, times, machine: settings.clocks.machine, logger: logger) {
            events.emit($0, $1)
        }
    }

    /// The monotonic clock.
    var machine: any SleepClock { self.clocks.machine }
    package var pipeline: Pipeline { self.value.withLock { $0.documents.running } }
    package var state: State { self.value.withLock { $0.lifecycle.state } }
    /// What of the room's leavings is not done when ``run()`` has returned; the next worker finishes it.
    package var debt: MediaError? { self.value.withLock { $0.lifecycle.debt } }
    /// Why the room ended, where it was not told to.
    package var endCode: ErrorCode? { self.value.withLock { $0.lifecycle.endCode } }

    /// The address a listener was bound to: `rtmp`, `viewer` or `control`.
    package func address(_ name: String) -> String? {
        self.value.withLock { $0.lifecycle.addresses.first { $0.name == name }?.address }
    }

    // MARK: Lifecycle

    /// Runs the room until it has ended. Everything that is to be written is written when this returns; the listeners of viewers and
    /// operators are still open, until ``linger(_:)`` has closed them.
    package func run() async -> RoomOutcome {
        // Before anybody can ask for a clip.
        self.pipeline.removeClipLeftovers()
        do {
            try await self.startListeners()
        } catch {
            return await self.close(.failed(error), by: self.machine.now())
        }
        self.value.withLock { $0.lifecycle.state = $0.lifecycle.state.opened }
        self.announceReady()
        self.announceResumed()
        self.resumeClips()
        self.resumeEnd()
        self.notePhase()
        self.recorder?.begin()
        for upload in self.outputStages.uploads { upload.begin() }
        self.refusing.announceQuarantines()
        self.announceOverload()
        self.ingestion.startPulls()
        let packagerThread = self.packager.map { packager in
            StageThread("package") {
                let outcome = packager.run()
                self.listeners.openGate()
                self.withOutputs { $0.packaged = outcome }
            }
        }
        let transportThreads = self.outputs.transports.start()
        let readers = self.decoding.start()
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
        self.roster.close()
        for thread in readers { thread.join() }
        let deadline = self.machine.now() &+ Int64(self.pipeline.shutdown.endTimeoutMs) &* 1_000_000
        if self.isOffline {
            packagerThread?.join()
            if self.withOutputs(\.packaged) == .endLost {
                self.oweEnd(.outputLost, "the playlists' end could not be written", fix: "restore the directory")
            }
        } else if packagerThread?.join(within: deadline &- self.machine.now()) == false {
            if case .ended = outcome {
                self.oweEnd(
                    .unfinished, "the disk did not take the playlists' end in time",
                    fix: "start the room again, and end it")
            } else {
                self.oweEnd(
                    .outputLost, "the disk did not take the last segment in time",
                    fix: "nothing: the next worker shows slate in its place; look after the disk")
            }
        }
        self.outputs.transports.finish(transportThreads, hasEnded: outcome.hasEnded, by: deadline)
        self.outputs.disk.stop()
        self.outputStages.snapshots.stop(images)
        self.outputs.clips.close()
        return await self.close(outcome, by: deadline)
    }

    /// The program thread: waits for media, runs to the end, flushes what is behind it.
    private func runProgram() -> RoomOutcome {
        if self.isOffline {
            self.mediaArrived(at: 0)
        } else if self.outputStages.slate != nil {
            // Viewers are waiting: the program goes on whether or not a publisher is back.
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
        // A room that begins answers once its first playlist lists enough.
        if self.packager?.opening == nil { self.listeners.openGate() }
        self.program.run()
        // One that is over by itself: whoever looks at the room's loops must not take them for loops that hang.
        if !self.isOffline { self.end(reason: "the program is over") }
        self.ladder.finish()
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

    /// Fixes the room's time: which tick is due when.
    private func begin(arrival: Int64) throws(MediaError) {
        if self.isOffline {
            let origin = self.settings.origin ?? 0
            _ = try self.packager?.begin(now: origin)
            self.started(origin: origin, firstTick: 0)
            self.program.start(at: 0)
            return
        }
        let slate = self.outputs.slate.take()
        // The first picture is due one jitter buffer after it came; the wall clock is read once, here.
        let jitter = self.slots.values.map(\.decode.jitterBuffer).min() ?? 200_000_000
        let due = self.outputStages.slate == nil ? arrival &+ jitter : self.machine.now()
        let wall = self.settings.origin ?? (self.clocks.wall.now() &+ (due &- self.machine.now()))
        if let packager = self.packager, packager.opening != nil {
            self.listeners.holdGate()
            packager.whenShown { [weak self] in self?.listeners.openGate() }
        }
        let beginning = try self.packager?.begin(now: wall, slate: slate)
        let (origin, firstTick) = (beginning?.origin ?? wall, beginning?.firstTick ?? 0)
        let time = TimeMath.scale(firstTick, by: TimeMath.nanoseconds, over: Int64(self.fps))
        self.clock.start(at: due &+ (origin &+ time &- wall), program: time, origin: origin)
        self.started(origin: origin, firstTick: firstTick)
        self.resumeProgram(at: firstTick)
        self.program.start(at: firstTick)
    }

    /// The room is over before this worker has anything to show: what the workers before it have listed ends all the same.
    private func beginToEnd() {
        guard !self.isOffline, let packager = self.packager, packager.hasPublishedBefore,
            case .ended? = self.value.withLock({ $0.lifecycle.outcome })
        else { return }
        do {
            _ = try packager.begin(now: self.settings.origin ?? self.clocks.wall.now())
        } catch {
            // The end is told already; what becomes of the playlists is the newer worker's to say.
            if error.code == .superseded { return self.value.withLock { $0.lifecycle.outcome = .superseded } }
            self.oweEnd(error.code, error.what, fix: "start the room again, and end it")
        }
    }

    private func started(origin: Int64, firstTick: Int64) {
        self.value.withLock { $0.lifecycle.start(origin: origin, firstTick: firstTick) }
        self.events.setProgramTime(origin: origin) { [weak self] in self?.programTime }
        self.scenes.startCountdowns(at: firstTick)
        self.beginUserData(origin: origin)
        let without = self.scenes.shown.onAir.without
        self.mark(self.program.scene, without: without, at: firstTick, isScheduled: false)
        self.events.emit(
            "program.started", ["origin": .string(ProgramDate.format(origin)), "firstTick": .integer(firstTick)])
    }

    /// The first decodable packet of any source starts the program.
    package func mediaArrived(at arrival: Int64) {
        let isFirst = self.value.withLock { value -> Bool in
            guard value.firstArrival == nil else { return false }
            value.firstArrival = arrival
            return true
        }
        if isFirst { self.firstMedia.signal() }
    }

    /// The room is over: everything is flushed, the playlists are closed.
    ///
    /// - Parameter code: Of the error catalogue, where nobody has told it to end.
    package func end(reason: String, code: ErrorCode? = nil) { self.stop(.ended, .ending, reason: reason, code) }

    /// This worker stops; the playlists stay open for a successor.
    package func drain(reason: String) { self.stop(.drained, .draining, reason: reason) }

    /// Something the room cannot live without has failed.
    func fail(_ error: MediaError) {
        self.logger.error("the room cannot go on", metadata: ["error": "\(error)"])
        self.stop(.failed(error), .ending, reason: error.what)
    }

    /// A newer worker has claimed the room; the first write that finds this calls it.
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
        // The value stays held: `room.ending` must be emitted before the `room.state` that follows from it.
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
            // Of a room that is over, or about to be: what is left to end is the time its viewers are served on.
            self.value.withLock { if state == .draining { $0.lingering.stopAsked() } else { $0.lingering.endAsked() } }
            return
        }
        self.notePhase()
        self.program.stop(atMultipleOf: self.lastTicks(of: outcome))
        if case .ended = outcome { self.commands?.update(.now) { $0.isEnded = true } }
        self.firstMedia.signal()
    }

    /// A drained room ends with a whole segment, which a successor continues.
    private func lastTicks(of outcome: RoomOutcome) -> Int64 {
        guard case .drained = outcome, !self.isOffline, let output = self.pipeline.hls else { return 1 }
        return Int64(output.gopFrames * output.segmentGops)
    }

    func owe(_ debt: MediaError) { self.value.withLock { $0.lifecycle.debt = $0.lifecycle.debt ?? debt } }

    private func oweEnd(_ code: MediaError.Code, _ what: String, fix: String) {
        self.owe(MediaError(code, what, at: "hls", fix: fix))
        self.value.withLock { $0.lifecycle.isEndOwed = true }
    }

    /// - Parameter deadline: Of what the room leaves behind, on the machine's clock.
    private func close(_ outcome: RoomOutcome, by deadline: Int64) async -> RoomOutcome {
        // Behind the live playlists' end, which viewers wait for, and beside the time they are still served.
        let isWhole = !self.value.withLock(\.lifecycle.isEndOwed)
        async let recorded = self.outputs.recording.finish(
            hasEnded: outcome.hasEnded, isWhole: isWhole, by: deadline)
        async let uploaded = self.outputs.uploads.finish(outcome.uploadEnd, by: deadline)
        let isHandedOver =
            switch outcome {
            case .drained, .superseded: true
            case .ended, .failed: false
            }
        await self.listeners.stop(isHandedOver: isHandedOver)
        if isHandedOver { await self.listeners.stopViewers() }
        let recordingDebt = await recorded
        if let recordingDebt { self.owe(recordingDebt) }
        if let debt = await uploaded { self.owe(debt) }
        // It stops at its next segment, long since.
        self.outputs.clips.join(within: deadline &- self.machine.now())
        self.value.withLock { value in
            value.lifecycle.state = .closed
            value.lifecycle.outcome = value.lifecycle.outcome ?? outcome
        }
        self.notePhase()
        let (verdict, damage) = (self.verdict(outcome), self.damage)
        // What was lost last, or in an offline job, has no alarm yet.
        if !damage.isEmpty { self.noteAlarms() }
        self.endAlarms()
        self.closeCommands(outcome, by: deadline)
        var (reason, code): (JSONValue, JSONValue) = (.null, JSONValue(self.endCode?.rawValue))
        if case .failed(let error) = outcome {
            (reason, code) = (.string(error.description), .string(error.code.description))
        }
        // A client that reads the event may end the linger at once.
        self.value.withLock { $0.lingering.closed() }
        self.events.emit(
            "room.closed",
            [
                "outcome": .string(verdict.word), "reason": reason, "code": code, "played": .bool(self.wasPlayed),
                "recording": self.recordingWord(outcome, owed: recordingDebt),
                "unfinished": JSONValue(self.debt?.description), "lostSegments": .integer(damage.lostSegments),
                "damage": .array(damage.failures.sorted { $0.key < $1.key }.map { .string($0.value.description) }),
                "summary": self.summary().json,
            ])
        self.events.close()
        return outcome
    }
}
