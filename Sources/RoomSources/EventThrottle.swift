import MediaTypes

/// Limits an event that a publisher can cause hundreds of times a second. Occurrences over the limit are counted, and
/// the next event reports their number. Pure; times are nanoseconds of one monotonic clock.
package struct EventThrottle: Sendable {
    /// Events per second, and the burst.
    private static let rate = (perSecond: Int64(1), burst: Int64(3))

    private var budget: TokenBucket
    private var held = 0

    package init(now: Int64) { self.budget = TokenBucket(Self.rate, now: now) }

    /// Counts one occurrence.
    ///
    /// - Returns: How many occurrences to report now; `nil`: emit no event.
    package mutating func happened(now: Int64) -> Int? {
        self.held += 1
        return self.due(now: now)
    }

    /// Occurrences that were held back and are to be reported now; `nil`: emit no event.
    package mutating func due(now: Int64) -> Int? {
        guard self.held > 0, self.budget.take(now: now) else { return nil }
        defer { self.held = 0 }
        return self.held
    }
}
