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
    }

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

    func noted(lag: Int64, at now: Int64) -> [Overload.Change] {
        self.state.withLock { state in
            defer { state.asked = now }
            if let asked = state.asked, now &- asked > Self.absence { state.graceUntil = now &+ Self.grace }
            if self.catchingUp.load(ordering: .relaxed) { state.graceUntil = max(state.graceUntil, now) }
            guard state.overload.taken > 0 || now > state.graceUntil else { return [] }
            return state.overload.noted(lag: lag, at: now)
        }
    }

    var overload: Overload { self.state.withLock { $0.overload } }
}
