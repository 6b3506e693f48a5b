/// How long a publisher's received bytes may wait in the socket, in nanoseconds, so that more of them are read at once.
package struct ReadDelayLimits: Sendable, Hashable {
    /// Maximum wait for a source that a viewer sees or hears, or will within a second. The wait can be one
    /// ``ReadTimer/interval`` longer. It must be shorter than the source's jitter buffer, or the data arrives too late.
    /// 0: nothing waits.
    package var usual: Int64
    /// Maximum wait for a source that no viewer sees or hears. If it is not more than ``usual``, or shorter than one
    /// ``ReadTimer/interval``, then ``usual`` applies.
    package var away: Int64

    package init(usual: Int64, away: Int64) {
        self.usual = max(0, usual)
        self.away = max(0, away)
    }

    /// Derives both limits from the length of the source's jitter buffer.
    ///
    /// A source on air may wait for a fifth of the jitter buffer, at most 40 ms; the rest is for the network, and a gap
    /// in the stream can still be distinguished from a wait. A source that no viewer sees or hears may wait for 250 ms,
    /// or less if the jitter buffer is shorter than 200 ms. The wait in the socket does not count as network delay; see
    /// ``ArrivalEstimate``.
    ///
    /// - Parameter jitterBuffer: In nanoseconds.
    package init(jitterBuffer: Int64) {
        let known = max(0, min(200_000_000, jitterBuffer))
        self.init(usual: known / 5, away: known / 4 * 5)
    }

    package static let usual = ReadDelayLimits(jitterBuffer: 200_000_000)
}
