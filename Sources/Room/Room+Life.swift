import Control
import HLS
import MediaTypes
import PipelineSpec
import Program
import RoomSources
import Stages

/// Performs what the room's life asks for: states as events, scenes on air, the phases of a PK.
///
/// A live room has a thread for it, which wakes when something happens or a deadline comes. Offline the program thread does
/// it between two ticks, on program time, so that the same job makes the same pictures.
extension Room {
    /// A stall is noticed this much later than it is one, at most.
    private static let pollInterval: Int64 = 50_000_000

    /// The clock of ``RoomLife``: the machine's, which program time follows at a fixed distance; offline the time of the
    /// next tick.
    package var lifeTime: Int64 { self.isOffline ? self.time(of: self.program.tick + 1) : self.machine.now() }

    /// Program time now, in nanoseconds; `nil` before the program runs.
    var programTime: Int64? { self.isOffline ? self.time(of: self.program.tick) : self.clock.now() }

    func time(of tick: Int64) -> Int64 {
        TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.fps))
    }

    // MARK: The thread

    /// Adds an event to ``RoomState/inbox`` and wakes the thread that handles it. Returns at once.
    ///
    /// - Parameters:
    ///   - time: When it happened, in nanoseconds of ``lifeTime``.
    ///   - announce: See ``Happening/announce``.
    func note(_ event: RoomLife.Event, at time: Int64, announce: (@Sendable () -> Void)? = nil) {
        self.value.withLock { $0.inbox.append(Happening(event: event, time: time, announce: announce)) }
        self.lifeWake.signal()
    }

    func finishLife() {
        self.value.withLock { $0.isLifeThreadOver = true }
        self.lifeWake.signal()
    }

    /// Runs until ``finishLife()``. Blocks.
    func runLife() {
        var health = self.machine.now()
        var released = health
        var idle = RoomIdle(hasHadSource: self.packager?.hasPublishedBefore == true, since: self.resumedIdle)
        let began = health
        var isOnProbation = true
        while true {
            let now = self.machine.now()
            let (deadline, isOver) = self.value.withLock { ($0.life.deadline(after: now), $0.isLifeThreadOver) }
            if isOver { return }
            self.lifeWake.wait(for: min(Self.pollInterval, max(0, (deadline ?? .max) &- now)))
            self.stepLife()
            self.stepOverload()
            self.watchHealth(&health)
            self.releaseMemory(&released)
            self.watchIdle(&idle)
            if isOnProbation, now &- began > Resumption.probation {
                isOnProbation = false
                self.endProbation()
            }
        }
    }

    /// Tells the life what has happened and what time it is.
    func stepLife() {
        self.tellLevels()
        let happenings = self.value.withLock { value in
            defer { value.inbox.removeAll(keepingCapacity: true) }
            return value.inbox
        }
        let arrivals = self.slots.mapValues(\.timedArrivals)
        let (now, tick) = (self.lifeTime, self.program.tick)
        let isSomethingDue = self.value.withLock { value in
            for happening in happenings {
                happening.announce?()
                self.receive(happening.event, at: happening.time, &value)
            }
            self.receive(.poll(arrivals), at: now, &value)
            if let next = value.scenes.upcoming.first, tick >= next.tick { value.sceneWork.isAdvanceDue = true }
            return !value.sceneWork.isEmpty
        }
        self.watchPhase()
        if self.isOffline {
            // Between two ticks, as all that follows from the files is there.
            self.changeScenes { desk in
                self.settle(&desk)
                self.layOutAnew(&desk)
            }
        } else if isSomethingDue {
            self.requestSettling()
        }
    }

    /// Passes an event to ``RoomLife``, emits the events that follow, and adds what is to be shown to ``RoomState/sceneWork``.
    func receive(_ event: RoomLife.Event, at time: Int64, _ value: inout RoomState) {
        self.perform(value.life.receive(event, now: time), &value)
    }

    /// Carries out actions of the life. The caller holds the value, so that events are emitted in the order in which things happened.
    private func perform(_ actions: [RoomLife.Action], _ value: inout RoomState) {
        var isPhaseNew = false
        for action in actions {
            switch action {
            case .tell(let id, let change):
                self.announce(id, change, value)
                if !self.isOffline { value.sceneWork.isLayoutDue = true }
            case .pkReady: self.events.emit("pk.ready", ["scene": JSONValue(value.life.pk?.scene)])
            case .phase(let change):
                isPhaseNew = true
                value.sceneWork.phases.append(change)
                self.announce(change, origin: value.lifecycle.origin)
            case .show: value.sceneWork.isShowDue = true
            }
        }
        guard isPhaseNew else { return }
        self.noteCommanded(value.life)
        // A successor shows the phase's scene even if this worker is killed before it does.
        self.noteCommanded(value.scenes, value)
    }

    /// Composes what is to be seen unless it is, and says when. What cannot be composed leaves the picture as it is; the
    /// next change tries again.
    ///
    /// - Returns: The first picture that shows it; `nil` where nothing changes.
    func putOnAir(_ show: RoomLife.Show, _ desk: inout SceneDesk) -> Int64? {
        guard desk.onAir.sceneID != show.scene.id || desk.onAir.without != show.without else { return nil }
        guard let scene = desk.shelf[show.scene.id] else { return nil }
        do throws(ControlFailure) {
            let showing = try self.show(scene, without: show.without, at: nil, nil, &desk)
            self.announce(showing, reason: show.reason)
            return showing.tick
        } catch {
            self.logger.error("a scene cannot be composed", metadata: ["error": "\(error.what)"])
            self.events.emit(
                "program.failed", ["scene": .string(show.scene.id), "reason": .string("\(error.what). \(error.fix)")])
            return nil
        }
    }

    // MARK: Commands

    /// Lets a command change the phase of the PK, and puts the phase's scene on air.
    func commandPK(
        _ change: (inout RoomLife, Int64) throws(PKLife.Refusal) -> [RoomLife.Action]
    ) throws(PKLife.Refusal) {
        let now = self.lifeTime
        try self.value.withLock { value throws(PKLife.Refusal) in
            let actions = try change(&value.life, now)
            self.perform(actions, &value)
        }
        self.lifeWake.signal()
        // The phase holds whether or not its scene can be built.
        self.settleScenes()
    }

    // MARK: Words

    private func announce(_ id: SourceID, _ change: SourceLife.Change, _ value: borrowing RoomState) {
        let source = value.life.sources[id]
        let slot = self.slots[id]
        slot?.setState(change.to)
        // A silent source's last picture gives way after its hold; a new picture ends that.
        if change.to == .stalled || change.to == .live {
            slot?.buffer.setSilent(since: source?.silentSince.flatMap { self.clock.program(of: $0) })
        }
        if change.to == .lost { slot?.setError(change.reason) }
        self.noteCommanded(id, change, graceUntil: source?.graceUntil)
        // "lost_final" is what the field calls it when nobody is waited for any longer.
        let type = change.to == .gone ? "source.lost_final" : "source.\(change.to.rawValue)"
        self.events.emit(
            type,
            [
                "uid": .string(id.description), "state": .string(change.to.rawValue),
                "from": .string(change.from.rawValue), "reason": .string(change.reason),
                "picture": change.to == .live ? JSONValue(slot?.format?.description) : .null,
                "graceUntil": self.date(
                    change.to == .reconnecting ? source?.graceUntil : nil, origin: value.lifecycle.origin),
                "playable": change.to == .live
                    ? .bool(value.isPlayable(hasPackager: self.packager != nil)) : .null,
            ])
    }

    private func announce(_ change: PKLife.Change, origin: Int64?) {
        let type =
            switch change.to {
            case .countdown: "pk.countdown"
            case .pk: "pk.started"
            case .punish: "pk.punish"
            case .idle: "pk.ended"
            }
        let (reason, uid): (JSONValue, JSONValue) =
            switch change.reason {
            case nil: (.null, .null)
            case .timer: ("timer", .null)
            case .command: ("command", .null)
            case .sourceGone(let uid): ("sourceLost", .string(uid))
            }
        self.events.emit(
            type,
            [
                "phase": .string(change.to.rawValue), "from": .string(change.from.rawValue),
                "at": self.date(change.at, origin: origin), "endsAt": self.date(change.endsAt, origin: origin),
                "reason": reason, "uid": uid,
            ])
    }

    /// The first tick that is not before a time of the life's clock; `nil` before the program runs.
    func tick(ofLifeTime time: Int64) -> Int64? {
        guard let program = self.isOffline ? time : self.clock.program(of: time) else { return nil }
        return TimeMath.scale(
            program, by: Int64(self.fps), over: TimeMath.nanoseconds, rounding: .up)
    }

    /// A time of the life's clock as a program date-time.
    private func date(_ time: Int64?, origin: Int64?) -> JSONValue {
        guard let time, let origin, let program = self.isOffline ? time : self.clock.program(of: time) else {
            return .null
        }
        return .string(ProgramDate.format(origin &+ program))
    }

    /// The PK as the state shows it; null if the pipeline has none and no command has started one.
    var pkJSON: JSONValue {
        let (shown, phases, origin) = self.value.withLock { ($0.life.shownPK, $0.life.phases, $0.lifecycle.origin) }
        guard let pk = shown else { return .null }
        let remaining: Int64? = phases.endsAt.map { max(0, $0 &- self.lifeTime) / 1_000_000 }
        return [
            "phase": .string(phases.phase.rawValue), "scene": .string(pk.scene),
            "countdownScene": JSONValue(pk.countdownScene), "punishScene": .string(pk.punishScene ?? pk.scene),
            "endScene": .string(pk.endScene), "endsAt": self.date(phases.endsAt, origin: origin),
            "remainingMs": remaining.map { .integer($0) } ?? .null,
        ]
    }
}
