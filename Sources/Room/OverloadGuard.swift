import PipelineSpec

/// The room's ``Overload`` with two additions: at level 0 it ignores lag after the process was stopped or got no CPU time, and
/// it decides when the level must be saved for a successor.
struct OverloadGuard: Sendable {
    /// Longest time between two calls of ``noted(lag:at:isPending:isCatchingUp:)``, in nanoseconds. After a longer time
    /// the whole process is assumed to have been stopped, which is not an overload.
    private static let absence: Int64 = 500_000_000
    /// Time after a stop of the whole process in which lag does not count at level 0, in nanoseconds: the program is
    /// catching up.
    private static let grace: Int64 = 1_500_000_000
    /// Least time in nanoseconds between two resets of the lag samples after a stop of the whole process. On an
    /// overloaded machine the calling thread may be late so often that it looks like stops; steps must still be taken.
    private static let forgetDistance: Int64 = 10_000_000_000
    /// How often an unchanged level is saved again, in nanoseconds. A successor uses only a recent level, see
    /// ``OverloadRecord/age``.
    private static let keepInterval: Int64 = 60_000_000_000

    private(set) var overload: Overload
    /// Whether the room's lag is above half of the limit, at which ``Overload`` gives up an attempt to undo a step.
    var isBehind: Bool { self.overload.lag > self.overload.rules.limit / 2 }
    private var asked: Int64?
    private var graceUntil: Int64 = .min
    private var forgottenAt: Int64?
    /// The level that was saved last, and the time of saving; nil before the first.
    private var kept: (held: Overload.InheritedLevel?, at: Int64)?

    init(_ pipeline: Pipeline) {
        let steps = Overload.steps(for: pipeline, renditions: Overload.costliestFirst(pipeline))
        let limit = Int64(pipeline.overload.maxLagMs) * 1_000_000
        self.overload = Overload(steps: steps, rules: Overload.Rules(limit: limit))
    }

    /// Records the room's lag, and returns the overload actions to carry out; see
    /// ``Overload/noted(lag:at:isPending:)``.
    ///
    /// - Parameter isCatchingUp: Whether the program is catching up after the process was stopped (SIGSTOP) or got no
    ///   CPU time.
    mutating func noted(lag: Int64, at now: Int64, isPending: Bool, isCatchingUp: Bool) -> [Overload.Action] {
        defer { self.asked = now }
        let isBack = self.asked.map { now &- $0 > Self.absence } ?? false
        if isBack { self.graceUntil = now &+ Self.grace }
        if isCatchingUp { self.graceUntil = max(self.graceUntil, now) }
        guard self.overload.taken > 0 || now > self.graceUntil else {
            self.overload.forget(at: now)
            return []
        }
        if isBack, self.forgottenAt.map({ now &- $0 >= Self.forgetDistance }) ?? true {
            self.forgottenAt = now
            self.overload.forget(at: now)
        }
        return self.overload.noted(lag: lag, at: now, isPending: isPending)
    }

    /// Starts at the overload level of the previous worker. Called before the room is live.
    ///
    /// - Returns: The steps that are in force from now on.
    mutating func resume(_ held: Overload.InheritedLevel, at now: Int64) -> [Overload.Step] {
        self.overload = Overload(steps: self.overload.steps, rules: self.overload.rules, held: held, at: now)
        self.kept = (self.overload.held, now)
        return Array(self.overload.active)
    }

    /// The level to save for a successor now. Returns nil if the level is already saved, and an inner nil if nothing is
    /// left out any more, so that the saved level must be removed.
    mutating func takeHeld(at now: Int64) -> Overload.InheritedLevel?? {
        let held = self.overload.held
        if let kept = self.kept {
            let isOld = held != nil && now &- kept.at >= Self.keepInterval
            guard kept.held != held || isOld else { return nil }
        } else if held == nil {
            return nil
        }
        self.kept = (held, now)
        return .some(held)
    }
}
