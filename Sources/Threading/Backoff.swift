/// Exponential backoff: delays between connection attempts, doubled each time, with jitter, so that many clients that
/// lost the same server do not reconnect at the same moment.
///
/// Each delay is random between half of a ceiling and the ceiling. The ceiling doubles with each attempt, up to
/// ``longest``. The caller passes the random number.
package struct Backoff: Sendable {
    /// Maximum of the first delay, in nanoseconds.
    package let first: Int64
    /// Maximum of every delay, in nanoseconds.
    package let longest: Int64

    private var ceiling: Int64

    /// Creates a backoff that begins with the shortest delays.
    ///
    /// - Parameters:
    ///   - first: Maximum of the first delay in nanoseconds, at least 1.
    ///   - longest: Maximum of all delays in nanoseconds, at least `first`.
    package init(first: Int64 = 1_000_000_000, longest: Int64 = 8_000_000_000) {
        self.first = max(1, first)
        self.longest = max(self.first, longest)
        self.ceiling = self.first
    }

    /// Returns the next delay in nanoseconds, from half the ceiling to the ceiling, and doubles the ceiling.
    package mutating func next(random: UInt64) -> Int64 {
        let half = self.ceiling / 2
        self.ceiling = self.ceiling > self.longest / 2 ? self.longest : self.ceiling * 2
        return half + Int64(random % UInt64(half + 1))
    }

    /// Sets the ceiling back to ``first``; call it after a successful connection.
    package mutating func reset() { self.ceiling = self.first }
}
