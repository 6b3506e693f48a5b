import MediaTypes

/// Limits the rate of timed metadata, and remembers the ids of events so that a repeated request is recognized. A
/// value.
///
/// Times are nanoseconds of one monotonic clock.
package struct MetadataLimiter: Sendable {
    /// An event that was accepted.
    package struct Entry: Sendable, Hashable {
        /// Content of the request, which distinguishes a repeated request from another one with the same id.
        package let content: String
        package let frame: Int64

        package init(content: String, frame: Int64) {
            self.content = content
            self.frame = frame
        }
    }

    /// Why an event is refused.
    package enum Refusal: Error, Equatable {
        /// The id was already used by an event with another content.
        case taken
        /// The rate limit is exceeded.
        case tooMany
        /// ``mostStates`` types already have a state.
        case tooManyStates
    }

    /// Rate limit in events per second. ``burst`` is the number of events that may be sent at once.
    package static let rate: Int64 = 20
    package static let burst: Int64 = 60
    /// Events of the burst that are reserved for operators, so that messages of publishers cannot use all of it.
    package static let reserve = Self.burst / 2
    /// Number of ids that are remembered; the rate limit allows fewer events per minute.
    private static let remembered = 2_048
    /// Largest number of types that may have a state at the same time.
    package static let mostStates = 32

    private var entries: [String: Entry] = [:]
    /// Ids in the order in which they were added.
    private var order: [String] = []
    private var states: Set<String> = []
    /// Number of accepted events.
    package private(set) var count: Int64 = 0
    /// Remaining credit of the rate limit at `lookedAt`, in nanoseconds; one event costs 1 s / ``rate``. `lookedAt` is
    /// the time of the last accepted event.
    private var credit = Self.burst &* (TimeMath.nanoseconds / Self.rate)
    private var lookedAt: Int64?

    package init() {}

    /// The accepted event with this id; nil if there is none, or if it is no longer remembered.
    ///
    /// - Throws: ``Refusal/taken`` if its content is different.
    package func known(_ id: String, content: String) throws(Refusal) -> Entry? {
        guard let entry = self.entries[id] else { return nil }
        guard entry.content == content else { throw .taken }
        return entry
    }

    /// Accepts one more event, or refuses it because of a limit.
    ///
    /// - Parameters:
    ///   - id: The id given by the sender; nil if it gave none.
    ///   - state: The type whose state the event sets, and whether the state goes on after it; nil if the event is no
    ///     state.
    ///   - reserve: Number of events of the burst that must remain after this one; clamped to 0…``MetadataLimiter/reserve``.
    /// - Returns: The number of the event, from 1.
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
