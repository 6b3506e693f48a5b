/// How long to wait before a connection is tried again: twice as long each time, with chance in it, so that many who lost
/// the same far side do not come back in step.
///
/// Waits between 0.5 and 1 s at first, between 4 and 8 s in the end; for ever. Pure: chance is given.
package struct Backoff: Sendable {
    /// Longest first wait and longest wait, in nanoseconds.
    static let first: Int64 = 1_000_000_000
    static let longest: Int64 = 8_000_000_000

    private var ceiling = Backoff.first

    package init() {}

    /// Nanoseconds to wait now: from half the ceiling to the ceiling, which doubles with each call.
    package mutating func next(random: UInt64) -> Int64 {
        let half = self.ceiling / 2
        self.ceiling = min(self.ceiling * 2, Backoff.longest)
        return half + Int64(random % UInt64(half + 1))
    }

    /// The connection has held: the next wait is a first one.
    package mutating func reset() { self.ceiling = Backoff.first }
}
