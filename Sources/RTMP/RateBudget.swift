/// A token bucket on injected time.
struct RateBudget {
    private let perSecond: Int64
    /// Both in billionths of a token, so that nanoseconds times tokens a second need no division.
    private let capacity: Int64
    private var level: Int64
    private var last: Int64

    init(_ rate: (perSecond: Int64, burst: Int64), now: Int64) {
        self.perSecond = rate.perSecond
        self.capacity = rate.burst * 1_000_000_000
        self.level = self.capacity
        self.last = now
    }

    /// Takes one token; false when there is none.
    mutating func take(now: Int64) -> Bool {
        // A minute fills every bucket in use, and keeps the product far from overflow.
        let elapsed = min(max(0, now &- self.last), 60_000_000_000)
        self.last = max(self.last, now)
        self.level = min(self.capacity, self.level &+ elapsed &* self.perSecond)
        guard self.level >= 1_000_000_000 else { return false }
        self.level -= 1_000_000_000
        return true
    }
}
