package import MediaTypes

/// How much publishers say to viewers, as a value: each of them so often, what is over is counted and left out.
package struct SourceDataBook: Sendable {
    /// Messages a second of one source.
    package static let rate: Int64 = 10

    /// What has become of a source's.
    package struct Count: Sendable, Hashable {
        package var taken: Int64 = 0
        package var dropped: Int64 = 0
    }

    private var budgets: [SourceID: RateBudget] = [:]
    private var counts: [SourceID: Count] = [:]

    package init() {}

    /// - Parameter now: Nanoseconds of one clock.
    /// - Returns: Whether one more may be said.
    package mutating func take(_ source: SourceID, now: Int64) -> Bool {
        var budget = self.budgets[source] ?? RateBudget((perSecond: Self.rate, burst: Self.rate), now: now)
        let isTaken = budget.take(now: now)
        self.budgets[source] = budget
        if !isTaken { self.note(source, isTaken: false) }
        return isTaken
    }

    /// What has become of one that might be said.
    package mutating func note(_ source: SourceID, isTaken: Bool) {
        if isTaken {
            self.counts[source, default: Count()].taken &+= 1
        } else {
            self.counts[source, default: Count()].dropped &+= 1
        }
    }

    /// The source is gone: whoever comes under its name begins anew.
    package mutating func forget(_ source: SourceID) {
        self.budgets[source] = nil
        self.counts[source] = nil
    }

    /// Whose there are any.
    package var sources: Set<SourceID> { Set(self.budgets.keys).union(self.counts.keys) }

    package func count(of source: SourceID) -> Count { self.counts[source] ?? Count() }
}
