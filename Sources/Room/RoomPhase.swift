/// The state of a room as clients see it: one word, and why. A value that receives facts and returns changes.
///
/// States:
///
/// | State | The room |
/// |---|---|
/// | `starting` | opens its listeners |
/// | `waiting` | has never had media, and has no publisher |
/// | `preparing` | has a publisher, but viewers cannot play yet |
/// | `live` | can be played, and a source on air sends media |
/// | `recovering`, ``Cause/media`` | can be played, but no source on air sends: held frames, placeholders, slate |
/// | `recovering`, ``Cause/output`` | can be played, but an output to another server cannot be reached |
/// | `degraded` | can be played, but leaves something out because its machine cannot keep up (``Cause/overload``) |
/// | `ending` | has ended, and completes its outputs |
/// | `draining` | is handed over to a successor |
/// | `failed` | cannot continue; this worker does nothing more |
/// | `closed` | is finished for this worker |
///
/// starting → waiting ⇄ preparing → live ⇄ recovering ⇄ degraded, each with each; from any of them → ending or draining
/// → closed; from any but closed → failed. A room with file sources passes through the same states; an offline room
/// whose files or duration have ended is closed at once.
///
/// Invariants:
/// 1. The state never goes back to an earlier one of: the states before the end, ending and draining, failed and closed.
/// 2. `recovering` and `degraded` have a cause, no other state has.
/// 3. The most visible cause is reported: media before outputs, outputs before overload.
package struct RoomPhase: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case starting, waiting, preparing, live, recovering, degraded, ending, draining, failed, closed
    }

    /// Why a room is recovering or degraded.
    package enum Cause: String, Sendable, CaseIterable { case media, output, overload }

    /// The facts that the state follows from.
    package struct Facts: Sendable, Equatable {
        package var lifecycle = Room.State.starting
        /// Whether it ends because of a failure.
        package var hasFailed = false
        /// Whether a publisher was admitted and is there or expected back.
        package var hasPublisher = false
        /// Whether this worker has published media that viewers can play.
        package var isPlayable = false
        /// Whether a source on air sends media; true if the scene has no sources.
        package var hasMedia = false
        /// Whether an output to another server cannot be reached.
        package var isOutputLost = false
        /// Number of steps taken because the machine cannot keep up.
        package var overloadSteps = 0

        package init() {}
    }

    package struct Change: Sendable, Equatable {
        package var from: State
        /// The same as ``from`` if only the cause has changed.
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

    /// - Returns: The change; `nil`: nothing has changed.
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
    /// A state is never followed by one with a lower number.
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

/// The room's ``RoomPhase`` and its input.
struct RoomStatus: Sendable {
    var phase = RoomPhase()
    var facts = RoomPhase.Facts()
    /// When the state began, in nanoseconds since the Unix epoch.
    var since: Int64
}
