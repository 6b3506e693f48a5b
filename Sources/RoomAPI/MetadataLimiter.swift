import MediaTypes

/// Limits the timed metadata that is sent with frames, and remembers its ids; a value.
///
/// Times are nanoseconds of one clock, the same for all calls.
package struct MetadataLimiter: Sendable {
    /// An event as it was taken.
    package struct Entry: Sendable, Hashable {
        /// The content of the request, to tell a repeated request from a different one with the same id.
        package let content: String
        package let frame: Int64

        package init(content: String, frame: Int64) {
            self.content = content
            self.frame = frame
        }
    }

    /// Why an event is refused.
    package enum Refusal: Error, Equatable {
        /// The id belongs to another event.
        case taken
        /// Too many in a short time.
        case tooMany
        /// The number of types with a state has reached ``mostStates``.
        case tooManyStates
    }

    /// Events per second in the long run, and the burst.
    package static let rate: Int64 = 20
    package static let burst: Int64 = 60
    /// Part of the burst that is reserved for the operator, so that messages of publishers cannot use all of it.
    package static let reserve = Self.burst / 2
    /// Number of ids that are remembered: at least those of the last minute.
    private static let remembered = 2_048
    /// Most types with a state.
    package static let mostStates = 32

    private var entries: [String: Entry] = [:]
    /// Ids in the order in which they were added.
    private var order: [String] = []
    private var states: Set<String> = []
    /// Events so far.
    package private(set) var count: Int64 = 0
    /// Remaining credit of the rate limit at ``lookedAt``, in nanoseconds.
    private var credit = Self.burst &* (TimeMath.nanoseconds / Self.rate)
    private var lookedAt: Int64?

    package init() {}

    /// The event with an id; `nil` if there is none.
    package func known(_ id: String, content: String) throws(Refusal) -> Entry? {
        guard let entry = self.entries[id] else { return nil }
        guard entry.content == content else { throw .taken }
        return entry
    }

    /// Accepts one more event.
    ///
    /// - Parameters:
    ///   - id: The id that the sender gave it; `nil` if none.
    ///   - state: The type whose state it is, and whether the state continues.
    ///   - reserve: Events of the burst that must remain after it, 0…``reserve``.
    /// - Returns: Its number in the run, from 1.
    package mutating func add(
        _ entry: Entry, id: String?, state: (type: String, goesOn: Bool)?, leaving reserve: Int64 = 0, now: Int64
    ) throws(Refusal) -> Int64 {
        let price = TimeMath.nanoseconds / Self.rate
        let earned = min(max(0, now &- (self.lookedAt ?? now)), Self.burst &* price)
        let credit = min(self.credit &+ earned, Self.burst &* price)
        guard credit >= price &* (1 &+ max(0, min(reserve, Self.reserve))) else { throw .tooMany }
        if let state {
            if state.goesOn {
                guard self.states.contains(state.type) || self.states.count < Self.mostStates else {
                    throw .tooManyStates
                }
                self.states.insert(state.type)
            } else {
                self.states.remove(state.type)
            }
        }
        self.credit = credit &- price
        self.lookedAt = now
        if let id {
            self.entries[id] = entry
            self.order.append(id)
            if self.order.count > Self.remembered { self.entries[self.order.removeFirst()] = nil }
        }
        self.count &+= 1
        return self.count
    }
}
