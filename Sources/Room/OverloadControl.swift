import Dispatch
import Encoding
import Logging
import MediaKernels
import MediaTypes
import Packager
import PipelineSpec
import Program
import RoomAPI
import RoomSources
import Synchronization
import Threading

/// Measures the room's lag, and carries out what ``Overload`` decides about it. In a live room, the thread `life` calls
/// ``step(encoderLag:)``; an offline room never does. Any thread may read the level and ask for the alarm.
final class OverloadControl: Sendable {
    private let state: RoomPart<OverloadGuard>
    private let program: ProgramStage
    private let ladder: EncodingStage
    private let roster: SourceRoster
    private let clocks: Clocks
    private let events: RoomEvents
    private let logger: Logger
    /// Directory in which the overload level is saved; nil if it is not saved.
    private let directory: String?
    /// Queue that saves the level, so that a blocked disk delays nothing else.
    private let writes = DispatchQueue(label: "overload")
    private let outputsPaused = Atomic<Bool>(false)
    private let stillsPaused = Atomic<Bool>(false)
    private let audioTapPaused = Atomic<Bool>(false)
    private let catchingUp = Atomic<Bool>(false)

    init(
        _ state: RoomPart<OverloadGuard>, _ pipeline: Pipeline, _ program: ProgramStage, _ ladder: EncodingStage,
        _ roster: SourceRoster, clocks: Clocks, events: RoomEvents, logger: Logger
    ) {
        (self.state, self.program, self.ladder, self.roster) = (state, program, ladder, roster)
        (self.clocks, self.events, self.logger) = (clocks, events, logger)
        self.directory = pipeline.clock == .offline ? nil : pipeline.hls?.path
    }

    var current: Overload { self.state.withLock(\.overload) }

    /// Whether outputs that no player waits for skip their frames; read at every tick.
    var areOutputsPaused: Bool { self.outputsPaused.load(ordering: .relaxed) }

    /// Whether no stills of sources are made.
    var areStillsPaused: Bool { self.stillsPaused.load(ordering: .relaxed) }

    /// Whether no client receives the program's audio; read at every block of audio while there are clients.
    var isAudioTapPaused: Bool { self.audioTapPaused.load(ordering: .relaxed) }

    /// Stops or resumes the making of stills and the sending of audio to clients. Overlays in `work` are ignored.
    func setPaused(_ work: Set<OptionalWorkPause.Work>) {
        self.stillsPaused.store(work.contains(.stills), ordering: .relaxed)
        self.audioTapPaused.store(work.contains(.audioTap), ordering: .relaxed)
    }

    /// Sets whether the program is catching up after the process was stopped (SIGSTOP) or got no CPU time.
    func setCatchingUp(_ isCatchingUp: Bool) { self.catchingUp.store(isCatchingUp, ordering: .relaxed) }

    /// Measures the room's lag, passes it to ``Overload``, and carries out the resulting actions.
    ///
    /// - Parameter encoderLag: Lag of the slowest encoder in nanoseconds; nil while the program does not run.
    func step(encoderLag: Int64?) {
        let now = self.clocks.machine.now()
        guard let encoderLag else { return }
        let behind = self.roster.sources.values.filter { !$0.buffer.need.isHidden }.map(\.decode.lateness).max() ?? 0
        let (isPending, isCatchingUp) = (
            self.ladder.control.isExchanging, self.catchingUp.load(ordering: .relaxed)
        )
        var (taken, actions) = self.state.withLock { state in
            let before = state.overload.taken
            let actions = state.noted(
                lag: max(behind, encoderLag), at: now, isPending: isPending, isCatchingUp: isCatchingUp)
            return (before, actions)
        }
        for action in actions {
            switch action {
            case .change(let step, let isTaken, let lag):
                taken += isTaken ? 1 : -1
                self.apply(step, isTaken: isTaken, level: taken)
                self.report(step, isTaken: isTaken, lag: lag, level: taken)
            case .dropBacklog(_, let keepsMotion):
                self.ladder.control.dropPictures(before: self.program.tick + 2, keepsMotion: keepsMotion)
            }
        }
        if !actions.isEmpty || taken > 0 { self.reduceDecoding() }
        if let held = self.state.withLock({ $0.takeHeld(at: now) }) { self.keep(held) }
    }

    // MARK: Continuing the level of the previous worker

    /// Starts at the overload level that the previous worker saved instead of finding it again. Called before
    /// publishers are admitted.
    ///
    /// - Parameter isContinued: Whether an earlier worker of this room has published. If false, the record belongs to
    ///   another room in the same directory, and is removed.
    func recall(isContinued: Bool) {
        guard let directory = self.directory,
            let record = DirectoryStore(directory: directory).read(OverloadRecord.name)
        else { return }
        let steps = self.current.steps
        guard isContinued, let record = OverloadRecord(record, now: self.clocks.wall.now() / 1_000_000),
            let last = steps.firstIndex(where: { self.name(of: $0) == record.level })
        else {
            self.keep(nil)
            return
        }
        let held = Overload.InheritedLevel(steps: Array(steps[...last]), distance: record.distanceMs &* 1_000_000)
        let now = self.clocks.machine.now()
        for (index, step) in self.state.withLock({ $0.resume(held, at: now) }).enumerated() {
            self.apply(step, isTaken: true, level: index + 1)
        }
    }

    /// Emits the events for the steps that ``recall(isContinued:)`` has taken. Called after `room.ready`, which must be
    /// the first event.
    func announce() {
        for (index, step) in self.current.active.enumerated() {
            self.report(step, isTaken: true, lag: 0, level: index + 1)
        }
    }

    /// Saves the overload level for a successor. The file is written on another thread, because the life thread must not
    /// wait for a disk.
    private func keep(_ held: Overload.InheritedLevel?) {
        guard let directory = self.directory else { return }
        let record = held.flatMap { held in held.steps.last.map { (self.name(of: $0), held.distance) } }.map {
            OverloadRecord(
                level: $0, distanceMs: $1 / 1_000_000, writtenAt: self.clocks.wall.now() / 1_000_000)
        }
        self.writes.async { [logger = self.logger] in
            let store = DirectoryStore(directory: directory)
            do throws(MediaError) {
                if let record {
                    try store.put(
                        OverloadRecord.name, [PacketMemory(Array(record.json.utf8))], durable: false)
                } else {
                    try store.remove(OverloadRecord.name)
                }
            } catch {
                logger.debug("the overload level cannot be saved", metadata: ["error": "\(error)"])
            }
        }
    }

    // MARK: Steps

    /// Puts a step in force, or undoes it.
    ///
    /// - Parameter level: Number of steps in force after this change.
    private func apply(_ step: Overload.Step, isTaken: Bool, level: Int) {
        switch step {
        case .decoding: break
        case .outputs: self.outputsPaused.store(isTaken, ordering: .relaxed)
        case .encoder(let track): self.ladder.control.setThrifty(isTaken, track: track)
        case .halfPictures, .hold:
            let active = self.current.steps.prefix(level)
            self.program.setFrameMode(
                active.contains(.hold) ? .hold : active.contains(.halfPictures) ? .half : .none)
        }
    }

    private func report(_ step: Overload.Step, isTaken: Bool, lag: Int64, level: Int) {
        self.events.emit(
            "encoder.overload_step",
            [
                "step": .string(step.name), "rendition": JSONValue(self.rendition(of: step)),
                "taken": .bool(isTaken), "lagMs": .integer(lag / 1_000_000), "steps": JSONValue(level),
            ])
    }

    private func reduceDecoding() {
        let isThrifty = self.current.active.contains(.decoding)
        for (id, source) in self.roster.sources {
            let isOversized = isThrifty && source.format.map { self.program.isOversized(id, $0) } ?? false
            source.buffer.need.setReduced(isThrifty, skipsLoopFilter: isOversized)
        }
    }

    /// Name of a step in messages and in the saved level, such as `encoder 720p`.
    private func name(of step: Overload.Step) -> String {
        [step.name, self.rendition(of: step)].compactMap { $0 }.joined(separator: " ")
    }

    private func rendition(of step: Overload.Step) -> String? {
        guard case .encoder(let track) = step, self.ladder.renditions.indices.contains(track) else { return nil }
        return self.ladder.renditions[track].name
    }

    // MARK: Alarm and API reply

    /// The alarm while the room counts as overloaded; see ``Overload/isOverloaded(at:)``. `nil` while it does not.
    var alarm: ActiveAlarms.Alarm? {
        let overload = self.current
        guard overload.isOverloaded(at: self.clocks.machine.now()) else { return nil }
        let isSeen = overload.active.contains(.halfPictures)
        let left = overload.active.map { self.name(of: $0) }
        return ActiveAlarms.Alarm(
            "encoder.overload_step", isSeen ? "alert_3" : "alert_2", kind: "encoder",
            message: "this machine cannot keep up: level \(overload.taken) of \(overload.steps.count)"
                + (left.isEmpty ? "" : ", left out: \(left.joined(separator: ", "))"))
    }

    /// The overload level as the API shows it.
    func reply(_ overload: Overload) -> OverloadReply {
        OverloadReply(lag: overload.lag, steps: overload.active.map { self.name(of: $0) })
    }
}

extension Overload.Step {
    /// Name of the step in events and in the room's state.
    fileprivate var name: String {
        switch self {
        case .decoding: "decoding"
        case .outputs: "outputs"
        case .encoder: "encoder"
        case .halfPictures: "halfPictures"
        case .hold: "hold"
        }
    }
}
