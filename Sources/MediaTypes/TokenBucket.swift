/// A rate limiter (token bucket): it begins full, with `burst` tokens, and gains `perSecond` tokens per second up to
/// that number. The caller passes the current time, in nanoseconds of a monotonic clock.
package struct TokenBucket: Sendable {
    private let perSecond: Int64
    /// Capacity and current level in billionths of a token, so that nanoseconds times tokens per second need no
    /// division.
    private let capacity: Int64
    private var level: Int64
    private var last: Int64

    package init(_ rate: (perSecond: Int64, burst: Int64), now: Int64) {
        self.perSecond = rate.perSecond
        self.capacity = rate.burst * 1_000_000_000
        self.level = self.capacity
        self.last = now
    }

    /// Takes one token; returns `false` if there is no whole token, and takes none then.
    package mutating func take(now: Int64) -> Bool {
        // A minute fills every bucket in use, and keeps the product far from overflow.
        let elapsed = min(max(0, now &- self.last), 60_000_000_000)
        self.last = max(self.last, now)
        self.level = min(self.capacity, self.level &+ elapsed &* self.perSecond)
        guard self.level >= 1_000_000_000 else { return false }
        self.level -= 1_000_000_000
        return true
    }

    /// Whether the bucket is full, as if no token had ever been taken.
    package func isFull(at now: Int64) -> Bool {
        let elapsed = min(max(0, now &- self.last), 60_000_000_000)
        return self.level &+ elapsed &* self.perSecond >= self.capacity
    }
}
