import MediaTypes

/// Limits the rate of an event that a publisher can cause hundreds of times per second. Occurrences over the limit are
/// counted, and the next event reports their number. Pure; times are monotonic, in nanoseconds.
package struct EventThrottle: Sendable {
    /// Rate limit: events per second, and number of events that may be emitted at once.
    private static let rate = (perSecond: Int64(1), burst: Int64(3))

    private var budget: TokenBucket
    private var held = 0

    package init(now: Int64) { self.budget = TokenBucket(Self.rate, now: now) }

    /// Counts one occurrence.
    ///
    /// - Returns: The number of occurrences to report now; nil if no event must be emitted.
    package mutating func happened(now: Int64) -> Int? {
        self.held += 1
        return self.due(now: now)
    }

    /// The number of counted occurrences to report now; nil if no event must be emitted.
    package mutating func due(now: Int64) -> Int? {
        guard self.held > 0, self.budget.take(now: now) else { return nil }
        defer { self.held = 0 }
        return self.held
    }
}
