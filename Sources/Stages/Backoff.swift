/// How long to wait before a connection is tried again: twice as long each time, with chance in it, so that many who lost
/// the same far side do not come back in step.
///
/// Each wait lies between half a ceiling and the ceiling, which doubles up to the longest; for ever. Pure: chance is given.
package struct Backoff: Sendable {
    /// Longest first wait and longest wait, in nanoseconds.
    package let first: Int64
    package let longest: Int64

    private var ceiling: Int64

    /// - Parameters:
    ///   - first: Longest first wait in nanoseconds, at least 1.
    ///   - longest: Longest wait of all, at least `first`.
    package init(first: Int64 = 1_000_000_000, longest: Int64 = 8_000_000_000) {
        self.first = max(1, first)
        self.longest = max(self.first, longest)
        self.ceiling = self.first
    }

    /// Nanoseconds to wait now: from half the ceiling to the ceiling, which doubles with each call.
    package mutating func next(random: UInt64) -> Int64 {
        let half = self.ceiling / 2
        self.ceiling = self.ceiling > self.longest / 2 ? self.longest : self.ceiling * 2
        return half + Int64(random % UInt64(half + 1))
    }

    /// The connection has held: the next wait is a first one.
    package mutating func reset() { self.ceiling = self.first }
}
