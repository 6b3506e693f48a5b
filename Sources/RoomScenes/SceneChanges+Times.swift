package import Control
import HLS
import MediaTypes

/// Emits events about scene changes, and determines when changes become visible.
extension SceneChanges {
    /// How far in the future a change may be scheduled, in seconds.
    private static let horizon: Int64 = 60

    /// Converts between ticks and dates; nil until the program has begun.
    package var calendar: ProgramCalendar? {
        self.host.withScenes { _, context in context.origin }.map {
            ProgramCalendar(origin: $0, fps: Int64(self.times.fps))
        }
    }

    /// Expresses a tick as tick, date-time and program time in milliseconds. Empty before the program has begun, and if
    /// `tick` is nil.
    package func effect(at tick: Int64?) -> EffectTime {
        guard let calendar = self.calendar, let tick else { return EffectTime() }
        return EffectTime(
            tick: tick, appliesAt: ProgramDate.format(calendar.date(of: tick)),
            programTimeMs: TimeMath.scale(tick, by: 1000, over: calendar.fps))
    }

    /// The result of ``effect(at:)`` as members of a JSON reply.
    func members(at tick: Int64?) -> [JSONValue.Member] { self.effect(at: tick).members }

    /// The tick for a program date-time in a request; nil if `text` is nil.
    ///
    /// - Throws: 422 before the program has begun, and if the date-time is invalid, in the past or more than 60 s
    ///   ahead.
    package func tick(at text: String?) throws(ControlFailure) -> Int64? {
        guard let text else { return nil }
        guard let date = ProgramCalendar.parse(text) else {
            throw .invalidValue(
                "at", "\"\(text.prefix(64))\" is not a date-time", fix: "write it as 2026-01-31T20:00:00.000Z")
        }
        guard let calendar = self.calendar else {
            throw .invalidValue("at", "the program has not begun", fix: "leave \"at\" out, or wait for program.started")
        }
        let tick = calendar.tick(at: date)
        let now = self.program.tick
        guard tick > now else {
            throw .invalidValue(
                "at", "the program is at \(ProgramDate.format(calendar.date(of: now))) already",
                fix: "name a later date-time, or leave it out for the next tick")
        }
        guard tick <= now &+ Self.horizon * calendar.fps else {
            throw .invalidValue(
                "at", "it is more than \(Self.horizon) s ahead of \(ProgramDate.format(calendar.date(of: now)))",
                fix: "send the request later")
        }
        return tick
    }

    /// Emits `program.scene`: a scene goes on air or is scheduled, or the scene on air changes.
    package func announce(_ showing: SceneSchedule.Showing, reason: String) {
        let effect = self.effect(at: showing.tick)
        self.emit(
            "program.scene",
            [
                "scene": .string(showing.sceneID), "tick": effect.tick.map { .integer($0) } ?? .null,
                "appliesAt": JSONValue(effect.appliesAt),
                "reason": .string(reason),
                "without": .array(showing.without.map(\.description).sorted().map { .string($0) }),
            ])
    }

    /// Emits `scene.changed`: a scene was added or changed.
    package func announceChange(of sceneID: String, revision: Int) {
        self.emit("scene.changed", ["scene": .string(sceneID), "revision": JSONValue(revision)])
    }

    /// Emits `scene.removed`: a scene was removed.
    package func announceRemoval(of sceneID: String) { self.emit("scene.removed", ["scene": .string(sceneID)]) }

    /// Emits the event for a phase of the PK that has begun, or for the end of the PK.
    func announce(_ change: PKStateMachine.Change, origin: Int64?) {
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
        self.emit(
            type,
            [
                "phase": .string(change.to.rawValue), "from": .string(change.from.rawValue),
                "at": self.times.date(ofLife: change.at, origin: origin),
                "endsAt": self.times.date(ofLife: change.endsAt, origin: origin),
                "reason": reason, "uid": uid,
            ])
    }
}
