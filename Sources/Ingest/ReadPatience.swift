/// How long the bytes of a publisher may wait in its socket for more of them, in nanoseconds.
///
/// Shorter than the source's jitter buffer, or what waited comes too late.
package struct ReadPatience: Sendable, Hashable {
    /// Of a source that somebody sees or hears, or will within a second. What waits may be looked after one
    /// ``ReadGrid/interval`` later still. 0: nothing waits.
    package var usual: Int64
    /// Of one that is away: nobody sees or hears it. Never longer than this; not more than ``usual``: as ``usual``.
    package var away: Int64

    package init(usual: Int64, away: Int64) {
        self.usual = max(0, usual)
        self.away = max(0, away)
    }

    /// A fifth of the jitter buffer of what is on air, and half of it of what is away: the rest is the network's, and a gap in what
    /// comes is still told from a wait. No more than what the usual jitter buffer of 200 ms gives, since longer saves little.
    ///
    /// - Parameter jitterBuffer: In nanoseconds.
    package init(jitterBuffer: Int64) {
        self.init(usual: min(40_000_000, jitterBuffer / 5), away: min(100_000_000, jitterBuffer / 2))
    }

    package static let usual = ReadPatience(jitterBuffer: 200_000_000)
}
