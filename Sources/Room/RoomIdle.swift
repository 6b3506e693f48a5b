/// When a room that nobody publishes to is over: a value that is told whether anybody is there.
///
/// States: new (nobody has come) → busy (somebody is there) ⇄ left (nobody is there any more); from new and from left → over,
/// which is told once. Times are nanoseconds of one clock, never falling.
package struct RoomIdle: Sendable, Equatable {
    /// What the pipeline says, in nanoseconds; `nil`: for ever. It may change from one look to the next.
    package struct Rules: Sendable, Equatable {
        /// How long a new room waits.
        package var firstSource: Int64?
        /// How long one that has had a publisher goes on without any.
        package var idle: Int64?

        package init(firstSource: Int64? = nil, idle: Int64? = nil) {
            self.firstSource = firstSource
            self.idle = idle
        }
    }

    /// Why it is over.
    package enum End: Sendable, Equatable {
        /// Nobody came for so many nanoseconds.
        case nobodyCame(Int64)
        /// Nobody has been there for so many nanoseconds.
        case everybodyLeft(Int64)
    }

    private var hasHadSource: Bool
    /// Since when nobody has been there; `nil`: somebody is, or nobody has looked yet.
    package private(set) var since: Int64?
    private var isOver = false

    /// - Parameters:
    ///   - hasHadSource: Under a worker before this one.
    ///   - since: Since when nobody had been there under that worker.
    package init(hasHadSource: Bool, since: Int64? = nil) {
        self.hasHadSource = hasHadSource
        self.since = since
    }

    /// - Parameter isAnybodyThere: A publisher is connected, or a file is being read.
    /// - Returns: That the room is over, once.
    package mutating func noted(isAnybodyThere: Bool, _ rules: Rules, now: Int64) -> End? {
        guard !isAnybodyThere else {
            (self.hasHadSource, self.since) = (true, nil)
            return nil
        }
        let since = self.since ?? now
        self.since = since
        guard !self.isOver, let limit = self.hasHadSource ? rules.idle : rules.firstSource, now &- since >= limit else {
            return nil
        }
        self.isOver = true
        return self.hasHadSource ? .everybodyLeft(limit) : .nobodyCame(limit)
    }
}
