/// How long the bytes of a publisher may wait in its socket for more of them, in nanoseconds.
package struct ReadPatience: Sendable, Hashable {
    /// Of a source that somebody sees or hears, or will within a second. What waits may be looked after one
    /// ``ReadGrid/interval`` later still. Shorter than the source's jitter buffer, or what waited comes too late. 0: nothing waits.
    package var usual: Int64
    /// Of one that is away: nobody sees or hears it. Never longer than this; not more than ``usual``: as ``usual``.
    package var away: Int64

    package init(usual: Int64, away: Int64) {
        self.usual = max(0, usual)
        self.away = max(0, away)
    }

    /// A fifth of the jitter buffer of what is on air: the rest is the network's, and a gap in what comes is still told from a
    /// wait. A quarter of a second, less with a short jitter buffer, of what is away: whatever comes into sight is read at the next
    /// turn, and its scene waits for a tenth of a second. What it waits in the socket is no delay of its way: ``ArrivalEstimate``.
    /// Longer saves little.
    ///
    /// - Parameter jitterBuffer: In nanoseconds.
    package init(jitterBuffer: Int64) {
        let known = max(0, min(200_000_000, jitterBuffer))
        self.init(usual: known / 5, away: known / 4 * 5)
    }

    package static let usual = ReadPatience(jitterBuffer: 200_000_000)
}
