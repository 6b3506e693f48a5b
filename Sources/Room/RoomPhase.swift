/// What a room is for whoever looks at it: one word, and why. A value that is told facts and says when the word changes.
///
/// States and what leads to them:
///
/// | State | The room |
/// |---|---|
/// | `starting` | opens its listeners |
/// | `waiting` | has never had media, and nobody publishes |
/// | `preparing` | has a publisher, and viewers cannot play yet |
/// | `live` | is played, and somebody who is on air sends |
/// | `recovering` | is played, but nobody on air sends (``Cause/media``: held pictures, placeholders, slate), or an output elsewhere is not reached (``Cause/output``) |
/// | `degraded` | is played, and leaves something out because its machine cannot keep up (``Cause/overload``) |
/// | `ending` | is over, and finishes what it leaves behind |
/// | `draining` | is left to a successor |
/// | `failed` | cannot go on; this worker does nothing more |
/// | `closed` | is done with, as far as this worker goes |
///
/// starting → waiting ⇄ preparing → live ⇄ recovering ⇄ degraded, each with each; from any of them → ending or draining → closed;
/// from any but closed → failed. A room that is read from files passes through them as one that is published to; offline, one whose
/// files or whose duration are over is closed at once.
///
/// It keeps these:
/// 1. The state never goes back to an earlier one of: the states before the end, ending and draining, failed and closed.
/// 2. `recovering` and `degraded` have a cause, no other state has.
/// 3. What viewers miss comes first: media before outputs, outputs before overload.
package struct RoomPhase: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case starting, waiting, preparing, live, recovering, degraded, ending, draining, failed, closed
    }

    /// Why a room is recovering or degraded.
    package enum Cause: String, Sendable, CaseIterable { case media, output, overload }

    /// What is known of the room.
    package struct Facts: Sendable, Equatable {
        package var lifecycle = Room.State.starting
        /// It ends because of a failure.
        package var hasFailed = false
        /// Somebody was let in and is there, or expected back.
        package var hasPublisher = false
        /// Viewers can have something of this worker.
        package var isPlayable = false
        /// Somebody who is on air sends; true where nobody is to be on air.
        package var hasMedia = false
        /// An output that goes elsewhere is not reached.
        package var isOutputLost = false
        /// Things that are left out because the machine cannot keep up.
        package var overloadSteps = 0

        package init() {}
    }

    package struct Change: Sendable, Equatable {
        package var from: State
        /// The same as ``from`` where only the cause is another.
        package var to: State
        package var cause: Cause?

        package init(from: State, to: State, cause: Cause?) {
            self.from = from
            self.to = to
            self.cause = cause
        }
    }

    package private(set) var state = State.starting
    package private(set) var cause: Cause?

    package init() {}

    /// - Returns: What changes; `nil`: nothing.
    package mutating func noted(_ facts: Facts) -> Change? {
        let (state, cause) = Self.state(facts)
        guard state.age >= self.state.age, !self.state.isLast, (state, cause) != (self.state, self.cause) else {
            return nil
        }
        defer { (self.state, self.cause) = (state, cause) }
        return Change(from: self.state, to: state, cause: cause)
    }

    private static func state(_ facts: Facts) -> (State, Cause?) {
        if facts.hasFailed { return (.failed, nil) }
        switch facts.lifecycle {
        case .starting: return (.starting, nil)
        case .ending: return (.ending, nil)
        case .draining: return (.draining, nil)
        case .closed: return (.closed, nil)
        case .waiting: return (facts.hasPublisher ? .preparing : .waiting, nil)
        case .live: break
        }
        if !facts.isPlayable { return (.preparing, nil) }
        if !facts.hasMedia { return (.recovering, .media) }
        if facts.isOutputLost { return (.recovering, .output) }
        return facts.overloadSteps > 0 ? (.degraded, .overload) : (.live, nil)
    }
}

extension RoomPhase.State {
    /// Later ones never give way to earlier ones.
    fileprivate var age: Int {
        switch self {
        case .starting: 0
        case .waiting, .preparing, .live, .recovering, .degraded: 1
        case .ending, .draining: 2
        case .failed, .closed: 3
        }
    }

    fileprivate var isLast: Bool { self == .failed || self == .closed }
}
