import MediaTypes
import PipelineSpec

/// The room's ``Overload``: ignores lag that a pause of the whole process has caused, and knows what was written down for a successor.
struct OverloadGuard: Sendable {
    /// If nobody has called ``noted(lag:at:isPending:isCatchingUp:)`` for longer than this, then the whole process was stopped. That
    /// is no overload.
    private static let absence: Int64 = 500_000_000
    /// Nor is the lag in this time after it, in which the program makes up for it.
    private static let grace: Int64 = 1_500_000_000
    /// On a machine that is always behind, the thread that asks may be late again and again: steps must not wait for ever.
    private static let forgetDistance: Int64 = 10_000_000_000
    /// How often the level is written down anew: a successor takes only a recent one, see ``OverloadRecord/age``.
    private static let keepInterval: Int64 = 60_000_000_000

    private(set) var overload: Overload
    private var asked: Int64?
    private var graceUntil: Int64 = .min
    private var forgottenAt: Int64?
    /// What was written down last, and when.
    private var kept: (held: Overload.Held?, at: Int64)?

    /// - Parameter renditions: Pictures' renditions, largest first, by their places in the ladder.
    init(_ pipeline: Pipeline, renditions: [Int]) {
        let steps = Overload.steps(for: pipeline, renditions: renditions)
        let limit = Int64(pipeline.overload.maxLagMs) * 1_000_000
        self.overload = Overload(steps: steps, rules: Overload.Rules(limit: limit))
    }

    /// See ``Overload/noted(lag:at:isPending:)``.
    ///
    /// - Parameter isCatchingUp: The program makes up ticks of a time in which the machine stood still.
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

    /// Goes on where the worker before stopped. Called before the room is live.
    ///
    /// - Returns: Steps that are taken from now on.
    mutating func resume(_ held: Overload.Held, at now: Int64) -> [Overload.Step] {
        self.overload = Overload(steps: self.overload.steps, rules: self.overload.rules, held: held, at: now)
        self.kept = (self.overload.held, now)
        return Array(self.overload.active)
    }

    /// What is to be written down for a successor now; `nil`: nothing new. Inner `nil`: nothing is left out any more.
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
