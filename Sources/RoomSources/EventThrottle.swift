import MediaTypes

/// How often something that a publisher can make happen a hundred times a second is told: what is held back is counted, and told
/// with the next one. Pure; times are nanoseconds of one monotonic clock.
package struct EventThrottle: Sendable {
    /// In the long run, and at once.
    private static let rate = (perSecond: Int64(1), burst: Int64(3))

    private var budget: TokenBucket
    private var held = 0

    package init(now: Int64) { self.budget = TokenBucket(Self.rate, now: now) }

    /// It has happened once more.
    ///
    /// - Returns: How many of them are told now; `nil`: none is.
    package mutating func happened(now: Int64) -> Int? {
        self.held += 1
        return self.due(now: now)
    }

    /// Those that were held back and are told now; `nil`: none is.
    package mutating func due(now: Int64) -> Int? {
        guard self.held > 0, self.budget.take(now: now) else { return nil }
        defer { self.held = 0 }
        return self.held
    }
}
