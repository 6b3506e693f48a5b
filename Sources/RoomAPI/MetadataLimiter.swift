import MediaTypes

/// What has been said with the pictures, as a value: how much more may be, and under which ids.
///
/// Times are nanoseconds of one clock, the same for all calls.
package struct MetadataLimiter: Sendable {
    /// An event as it was taken.
    package struct Entry: Sendable, Hashable {
        /// What was asked for, to tell a repeated request from another one under its id.
        package let content: String
        package let frame: Int64

        package init(content: String, frame: Int64) {
            self.content = content
            self.frame = frame
        }
    }

    /// Why one is refused.
    package enum Refusal: Error, Equatable {
        /// The id has been given to another event.
        case taken
        /// Too many in a short time.
        case tooMany
        /// There are as many states as there can be.
        case tooManyStates
    }

    /// Events a second in the long run, and at once.
    package static let rate: Int64 = 20
    package static let burst: Int64 = 60
    /// Events that what publishers say leaves to the operator: two who talk as fast as they may would take all there are.
    package static let reserve = Self.burst / 2
    /// Ids that are remembered: those of the last minute at least.
    private static let remembered = 2_048
    /// Types that can have a state.
    package static let mostStates = 32

    private var entries: [String: Entry] = [:]
    /// Ids in the order they came.
    private var order: [String] = []
    private var states: Set<String> = []
    /// Events so far.
    package private(set) var count: Int64 = 0
    /// Nanoseconds of ``rate`` that are left, at ``lookedAt``.
    private var credit = Self.burst &* (TimeMath.nanoseconds / Self.rate)
    private var lookedAt: Int64?

    package init() {}

    /// The event that an id was given to; `nil`: none.
    package func known(_ id: String, content: String) throws(Refusal) -> Entry? {
        guard let entry = self.entries[id] else { return nil }
        guard entry.content == content else { throw .taken }
        return entry
    }

    /// Takes one more event.
    ///
    /// - Parameters:
    ///   - id: Its sender's; `nil`: none.
    ///   - state: The type whose state it is, and whether the state goes on.
    ///   - reserve: Events that must still be possible at once behind it, 0…``reserve``.
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
