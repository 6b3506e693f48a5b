/// The state of a room as clients see it, with its cause. A pure value that receives facts and returns changes.
///
/// States:
///
/// | State | The room |
/// |---|---|
/// | `starting` | opens its listeners |
/// | `waiting` | has never had media, and has no publisher |
/// | `preparing` | has or had a publisher, but viewers cannot play yet |
/// | `live` | can be played, and a source on air sends media |
/// | `recovering`, ``Cause/media`` | can be played, but no source on air sends: held frames, placeholders, slate |
/// | `recovering`, ``Cause/output`` | can be played, but an output to another server cannot be reached |
/// | `degraded` | can be played, but leaves something out because its machine cannot keep up (``Cause/overload``) |
/// | `ending` | has ended, and completes its outputs |
/// | `draining` | is being handed over to a successor |
/// | `failed` | cannot continue, so this worker stops |
/// | `closed` | is finished for this worker |
///
/// Transitions: starting → waiting ⇄ preparing → live, recovering or degraded, which can change into each other. Every
/// state before the end can change to ending or draining, and these to closed. Every state except closed can change to
/// failed. A room with file sources has the same states; an offline room changes to closed without ending when its
/// files or its duration have ended.
///
/// Invariants:
/// 1. The state never goes back. Order: states before the end; ending and draining; failed and closed.
/// 2. Only `recovering` and `degraded` have a cause.
/// 3. If there are several causes, the most visible one is reported: media before output, output before overload.
package struct RoomPhase: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case starting, waiting, preparing, live, recovering, degraded, ending, draining, failed, closed
    }

    /// Why a room is recovering or degraded.
    package enum Cause: String, Sendable, CaseIterable { case media, output, overload }

    /// The facts that determine the room's state.
    package struct Facts: Sendable, Equatable {
        package var lifecycle = Room.State.starting
        /// Whether the room ends because of a failure.
        package var hasFailed = false
        /// Whether a publisher was admitted and is connected or expected back.
        package var hasPublisher = false
        /// Whether this worker has published media that viewers can play; true in a room without an HLS output.
        package var isPlayable = false
        /// Whether a source on air sends media; true if the scene has no sources.
        package var hasMedia = false
        /// Whether an output to another server cannot be reached.
        package var isOutputLost = false
        /// Number of overload steps in force because the machine cannot keep up; at least 1 while the room counts as
        /// overloaded.
        package var overloadSteps = 0

        package init() {}
    }

    /// A change of the state or its cause.
    package struct Change: Sendable, Equatable {
        package var from: State
        /// The new state; the same as ``from`` if only the cause has changed.
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

    /// Updates the state.
    ///
    /// - Returns: The change; nil if neither state nor cause has changed.
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
    /// Order of the states: a state is never followed by a state with a lower number.
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

/// The room's ``RoomPhase``, the facts that determine it, and when it began.
struct RoomStatus: Sendable {
    var phase = RoomPhase()
    var facts = RoomPhase.Facts()
    /// When the current state began, in nanoseconds since the Unix epoch.
    var since: Int64
}
