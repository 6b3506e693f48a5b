import MediaTypes
import PipelineSpec
import Synchronization

/// The room's ``Overload``, with what other threads see of it.
final class OverloadGuard: Sendable {
    /// Whoever was not asked for this long was stopped itself, with the whole process: that is no overload.
    private static let absence: Int64 = 500_000_000
    /// Nor is what it takes to make that up.
    private static let grace: Int64 = 1_500_000_000

    private struct State {
        var overload: Overload
        var asked: Int64?
        var graceUntil: Int64 = .min
        var forgottenAt: Int64?
        /// What was kept last, and when.
        var kept: (held: Overload.Held?, at: Int64)?
    }

    /// On a machine that is always behind, the thread that asks may be late again and again: steps must not wait for ever.
    private static let forgetDistance: Int64 = 10_000_000_000
    /// How often the level is written down anew: a successor takes only a recent one, see ``OverloadRecord/age``.
    private static let keepInterval: Int64 = 60_000_000_000

    private let state: Mutex<State>
    private let outputsPaused = Atomic<Bool>(false)
    private let catchingUp = Atomic<Bool>(false)

    /// - Parameter renditions: Pictures' renditions, largest first, by their places in the ladder.
    init(_ pipeline: Pipeline, renditions: [Int]) {
        let steps = Overload.steps(for: pipeline, renditions: renditions)
        let limit = Int64(pipeline.overload.maxLagMs) * 1_000_000
        self.state = Mutex(State(overload: Overload(steps: steps, rules: Overload.Rules(limit: limit))))
    }

    /// Outputs the viewers do not see leave their pictures out.
    var areOutputsPaused: Bool { self.outputsPaused.load(ordering: .relaxed) }
    func setOutputsPaused(_ paused: Bool) { self.outputsPaused.store(paused, ordering: .relaxed) }

    /// The program makes up ticks of a time in which the machine stood still.
    func setCatchingUp(_ isCatchingUp: Bool) { self.catchingUp.store(isCatchingUp, ordering: .relaxed) }

    func noted(lag: Int64, at now: Int64, isPending: Bool) -> [Overload.Action] {
        self.state.withLock { state in
            defer { state.asked = now }
            let isBack = state.asked.map { now &- $0 > Self.absence } ?? false
            if isBack { state.graceUntil = now &+ Self.grace }
            if self.catchingUp.load(ordering: .relaxed) { state.graceUntil = max(state.graceUntil, now) }
            guard state.overload.taken > 0 || now > state.graceUntil else {
                state.overload.forget(at: now)
                return []
            }
            if isBack, state.forgottenAt.map({ now &- $0 >= Self.forgetDistance }) ?? true {
                state.forgottenAt = now
                state.overload.forget(at: now)
            }
            return state.overload.noted(lag: lag, at: now, isPending: isPending)
        }
    }

    /// The room goes on where the worker before it stopped. Before the room is live.
    ///
    /// - Returns: Steps that are taken from now on.
    func resume(_ held: Overload.Held, at now: Int64) -> [Overload.Step] {
        self.state.withLock { state in
            let steps = state.overload.steps
            state.overload = Overload(steps: steps, rules: state.overload.rules, held: held, at: now)
            state.kept = (state.overload.held, now)
            return Array(state.overload.active)
        }
    }

    /// What is to be written down for a successor now; `nil`: nothing new. Inner `nil`: nothing is left out any more.
    func takeHeld(at now: Int64) -> Overload.Held?? {
        self.state.withLock { state in
            let held = state.overload.held
            if let kept = state.kept {
                let isOld = held != nil && now &- kept.at >= Self.keepInterval
                guard kept.held != held || isOld else { return nil }
            } else if held == nil {
                return nil
            }
            state.kept = (held, now)
            return .some(held)
        }
    }

    var overload: Overload { self.state.withLock { $0.overload } }
}
