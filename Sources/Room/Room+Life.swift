import HLS
import LibAV
import MediaTypes
import PipelineSpec
import Program
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
    var lifeTime: Int64 { self.isOffline ? self.time(of: self.program.tick + 1) : self.machine.now() }

    /// Program time now, in nanoseconds; `nil` before the program runs.
    var programTime: Int64? { self.isOffline ? self.time(of: self.program.tick) : self.clock.now() }

    func time(of tick: Int64) -> Int64 {
        TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.pipeline.canvas.fps))
    }

    // MARK: The thread

    /// Runs until ``RoomLifeBox/finish()``. Blocks.
    func runLife() {
        while !self.life.isFinished {
            let now = self.machine.now()
            let deadline = self.life.life.withLock { $0.deadline(after: now) }
            self.life.wait(min(Self.pollInterval, max(0, (deadline ?? .max) &- now)))
            self.stepLife()
        }
    }

    /// Tells the life what has happened and what time it is.
    func stepLife() {
        let events = self.life.takeAll()
        let arrivals = self.slots.mapValues { $0.arrivals.current }
        let now = self.lifeTime
        self.life.life.withLock { life in
            for (event, time) in events { self.perform(life.receive(event, now: time), life) }
            self.perform(life.receive(.poll(arrivals), now: now), life)
        }
    }

    private func perform(_ actions: [RoomLife.Action], _ life: borrowing RoomLife) {
        for action in actions {
            switch action {
            case .tell(let id, let change): self.announce(id, change, life.sources[id])
            case .pkReady: self.events.emit("pk.ready", ["scene": JSONValue(life.pk?.scene)])
            case .phase(let change): self.announce(change)
            case .show(let show):
                do {
                    _ = try self.putOnAir(show)
                } catch {
                    // The picture before stays on air; the next change tries again.
                    self.logger.error("a scene cannot be composed", metadata: ["error": "\(error)"])
                    self.events.emit(
                        "program.failed",
                        ["scene": .string(show.scene.id), "reason": .string(error.description)])
                }
            }
        }
    }

    /// Composes what is to be seen, and says when.
    ///
    /// - Returns: The first tick that shows it.
    /// - Throws: ``MediaError`` from libavfilter; nothing has changed then.
    private func putOnAir(_ show: RoomLife.Show) throws(MediaError) -> Int64 {
        guard let scene = self.pipeline.scene(show.scene.id) else {
            throw MediaError(
                .notFound, "there is no scene \(show.scene.id)", at: "program", fix: "name a scene of the pipeline")
        }
        try self.program.setScene(SceneMapping.scene(scene.without(show.without), in: self.pipeline))
        let tick = self.program.tick + 1
        let without = show.without.map(\.description).sorted()
        self.events.emit(
            "program.scene",
            [
                "scene": .string(show.scene.id), "tick": .integer(tick), "reason": .string(show.reason),
                "without": .array(without.map { .string($0) }),
            ])
        return tick
    }

    // MARK: Commands

    /// Puts a scene on air because somebody asked for it. All or nothing.
    func command(_ scene: PipelineSpec.Scene) throws(MediaError) -> Int64 {
        let now = self.lifeTime
        let wanted = RoomLife.Scene(scene, in: self.pipeline)
        return try self.life.life.withLock { life throws(MediaError) -> Int64 in
            let before = life
            let actions = life.receive(.commanded(wanted), now: now)
            do throws(MediaError) {
                // Asked for again it is composed again: the document behind the id may have changed.
                let tick = try self.putOnAir(life.onAir)
                self.perform(actions.filter { if case .show = $0 { false } else { true } }, life)
                return tick
            } catch {
                life = before
                throw error
            }
        }
    }

    /// Lets a command change the phase of the PK, and performs what follows.
    func commandPK(
        _ change: (inout RoomLife, Int64) throws(PKLife.Refusal) -> [RoomLife.Action]
    ) throws(PKLife.Refusal) {
        let now = self.lifeTime
        try self.life.life.withLock { life throws(PKLife.Refusal) in
            let actions = try change(&life, now)
            self.perform(actions, life)
        }
        self.life.nudge()
    }

    // MARK: Words

    private func announce(_ id: SourceID, _ change: SourceLife.Change, _ source: SourceLife?) {
        let slot = self.slots[id]
        slot?.setState(change.to)
        if change.to == .lost { slot?.setError(change.reason) }
        // "lost_final" is what the field calls it when nobody is waited for any longer.
        let type = change.to == .gone ? "source.lost_final" : "source.\(change.to.rawValue)"
        self.events.emit(
            type,
            [
                "uid": .string(id.description), "state": .string(change.to.rawValue),
                "from": .string(change.from.rawValue), "reason": .string(change.reason),
                "picture": change.to == .live ? JSONValue(slot?.format?.description) : .null,
                "graceUntil": self.date(change.to == .reconnecting ? source?.graceUntil : nil),
            ])
    }

    /// The first picture of a publication is decoded.
    func announceFirstFrame(of id: SourceID, _ format: PictureFormat) {
        let key = self.isOffline ? nil : self.slots[id]?.arrivals.firstKey
        let elapsed: Int64? = key.map { (self.machine.now() &- $0) / 1_000_000 }
        self.events.emit(
            "source.first_frame",
            [
                "uid": .string(id.description), "picture": .string(format.description),
                "sinceKeyFrameMs": elapsed.map { .integer($0) } ?? .null,
            ])
    }

    private func announce(_ change: PKLife.Change) {
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
                "at": self.date(change.at), "endsAt": self.date(change.endsAt), "reason": reason, "uid": uid,
            ])
    }

    /// A time of the life's clock as a program date-time.
    private func date(_ time: Int64?) -> JSONValue {
        guard let time, let origin = self.mutable.withLock({ $0.origin }),
            let program = self.isOffline ? time : self.clock.program(of: time)
        else { return .null }
        return .string(ProgramDate.format(origin &+ program))
    }

    /// The PK as the state shows it; null when the room has none.
    var pkJSON: JSONValue {
        guard let pk = self.pipeline.pk else { return .null }
        let phases = self.life.life.withLock { $0.phases }
        let remaining: Int64? = phases.endsAt.map { max(0, $0 &- self.lifeTime) / 1_000_000 }
        return [
            "phase": .string(phases.phase.rawValue), "scene": .string(pk.scene), "endsAt": self.date(phases.endsAt),
            "remainingMs": remaining.map { .integer($0) } ?? .null,
        ]
    }
}
