package import MediaTypes

/// Limits the rate of publishers' data messages to players, per source. Messages over the limit are counted and
/// dropped. Pure.
package struct SourceDataLimiter: Sendable {
    /// Rate limit per source in messages per second; also the number of messages that may be sent at once.
    package static let rate: Int64 = 10

    /// Number of messages of a source that were sent to players (``taken``) and dropped.
    package struct Count: Sendable, Hashable {
        package var taken: Int64 = 0
        package var dropped: Int64 = 0
    }

    private var budgets: [SourceID: TokenBucket] = [:]
    private var counts: [SourceID: Count] = [:]

    package init() {}

    /// Counts a message against the limit of its source. If it is over the limit, then it is counted as dropped.
    ///
    /// - Parameter now: Nanoseconds of a monotonic clock.
    /// - Returns: False if the message is over the limit.
    package mutating func take(_ source: SourceID, now: Int64) -> Bool {
        var budget = self.budgets[source] ?? TokenBucket((perSecond: Self.rate, burst: Self.rate), now: now)
        let isTaken = budget.take(now: now)
        self.budgets[source] = budget
        if !isTaken { self.note(source, isTaken: false) }
        return isTaken
    }

    /// Counts the result of a message that was within the limit.
    ///
    /// - Parameter isTaken: Whether the message was sent to players.
    package mutating func note(_ source: SourceID, isTaken: Bool) {
        if isTaken {
            self.counts[source, default: Count()].taken &+= 1
        } else {
            self.counts[source, default: Count()].dropped &+= 1
        }
    }

    /// Removes the state of a source that has left the room. A source added later with the same id starts with a full
    /// limit and no counts.
    package mutating func forget(_ source: SourceID) {
        self.budgets[source] = nil
        self.counts[source] = nil
    }

    /// The sources that have sent messages.
    package var sources: Set<SourceID> { Set(self.budgets.keys).union(self.counts.keys) }

    /// The counts of a source; 0 if it has sent no messages.
    package func count(of source: SourceID) -> Count { self.counts[source] ?? Count() }
}
