import PipelineSpec

/// The room's ``Overload``. Ignores lag that a pause of the whole process has caused, and tracks the level saved for a
/// successor.
struct OverloadGuard: Sendable {
    /// If ``noted(lag:at:isPending:isCatchingUp:)`` was not called for longer than this, then the whole process was
    /// stopped. That is no overload.
    private static let absence: Int64 = 500_000_000
    /// Lag in this time after a stop does not count either: the program is catching up.
    private static let grace: Int64 = 1_500_000_000
    /// On a machine that is always behind, the calling thread may be late again and again: samples are forgotten at
    /// most this often, so that steps are still taken.
    private static let forgetDistance: Int64 = 10_000_000_000
    /// How often the level is saved again: a successor uses only a recent one, see ``OverloadRecord/age``.
    private static let keepInterval: Int64 = 60_000_000_000

    private(set) var overload: Overload
    /// Whether the room is behind by more than half of the limit, where ``Overload`` gives up an attempt.
    var isBehind: Bool { self.overload.lag > self.overload.rules.limit / 2 }
    private var asked: Int64?
    private var graceUntil: Int64 = .min
    private var forgottenAt: Int64?
    /// The level that was saved last, and when.
    private var kept: (held: Overload.Held?, at: Int64)?

    init(_ pipeline: Pipeline) {
        let steps = Overload.steps(for: pipeline, renditions: Overload.costliestFirst(pipeline))
        let limit = Int64(pipeline.overload.maxLagMs) * 1_000_000
        self.overload = Overload(steps: steps, rules: Overload.Rules(limit: limit))
    }

    /// See ``Overload/noted(lag:at:isPending:)``.
    ///
    /// - Parameter isCatchingUp: Whether the program is making up for a time in which the machine was suspended.
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

    /// Starts at the level of the previous worker. Called before the room is live.
    ///
    /// - Returns: Steps that are taken from now on.
    mutating func resume(_ held: Overload.Held, at now: Int64) -> [Overload.Step] {
        self.overload = Overload(steps: self.overload.steps, rules: self.overload.rules, held: held, at: now)
        self.kept = (self.overload.held, now)
        return Array(self.overload.active)
    }

    /// The level to save for a successor now; `nil`: it is saved already. Inner `nil`: nothing is left out any more.
    mutating func takeHeld(at now: Int64) -> Overload.Held?? {
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
