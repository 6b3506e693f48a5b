package import MediaTypes

/// Limits the rate of publishers' data messages to viewers, for each source. Messages over the limit are counted and dropped. Pure.
package struct SourceDataLimiter: Sendable {
    /// Messages per second of one source, and its burst.
    package static let rate: Int64 = 10

    /// How many messages of a source were sent on and dropped.
    package struct Count: Sendable, Hashable {
        package var taken: Int64 = 0
        package var dropped: Int64 = 0
    }

    private var budgets: [SourceID: TokenBucket] = [:]
    private var counts: [SourceID: Count] = [:]

    package init() {}

    /// Takes one message of a source from its limit; counts it as dropped if it is over the limit.
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

    /// Counts a message that was within the limit.
    ///
    /// - Parameter isTaken: Whether it was sent on.
    package mutating func note(_ source: SourceID, isTaken: Bool) {
        if isTaken {
            self.counts[source, default: Count()].taken &+= 1
        } else {
            self.counts[source, default: Count()].dropped &+= 1
        }
    }

    /// Forgets a source that was removed. A source added under its id starts with a full limit and no counts.
    package mutating func forget(_ source: SourceID) {
        self.budgets[source] = nil
        self.counts[source] = nil
    }

    /// The sources that sent messages.
    package var sources: Set<SourceID> { Set(self.budgets.keys).union(self.counts.keys) }

    /// The counts of a source; zero if it has sent none.
    package func count(of source: SourceID) -> Count { self.counts[source] ?? Count() }
}
