/// Decides whether a viewer gets video. A viewer that loses much of it gets none for some seconds, so that its network
/// recovers. A viewer that sends nothing is silent and gets no media.
///
/// Pure; times in nanoseconds of one monotonic clock.
package struct ViewerFlow: Sendable {
    /// Limits of what a viewer may lose, and times in nanoseconds.
    package struct Limits: Sendable, Equatable {
        /// Share of lost packets from which on a report is bad, in units of 1/256.
        package var bad: UInt8 = 64
        /// Share of lost packets up to which a report is good, in units of 1/256.
        package var good: UInt8 = 13
        /// Video pauses once reports have been bad for this time.
        package var patience: Int64 = 3_000_000_000
        /// The first pause; each further one is twice as long, up to ``longestPause``.
        package var pause: Int64 = 1_000_000_000
        package var longestPause: Int64 = 8_000_000_000
        /// Once reports have been good for this time, the next pause is short again.
        package var recovery: Int64 = 10_000_000_000
        /// Without any authentic datagram for this time, the viewer gets no media. Players send a report each second.
        package var silence: Int64 = 6_000_000_000

        package init() {}
    }

    private let limits: Limits
    private var badSince: Int64?
    private var goodSince: Int64?
    private var nextPause: Int64
    private var pausedUntil: Int64?
    private var lastHeard: Int64

    package init(now: Int64, limits: Limits = Limits()) {
        self.limits = limits
        self.lastHeard = now
        self.nextPause = limits.pause
    }

    /// Records that an authentic datagram has arrived.
    package mutating func heard(now: Int64) { self.lastHeard = now }

    /// Whether the viewer has sent nothing for ``Limits/silence``.
    package func isSilent(now: Int64) -> Bool { now &- self.lastHeard >= self.limits.silence }

    /// Whether video has to wait. It continues with a key frame.
    package func isPaused(now: Int64) -> Bool { self.pausedUntil.map { now < $0 } ?? false }

    /// A report about the video has arrived, with the share of packets that were lost in units of 1/256.
    ///
    /// - Parameter isNarrow: Whether the viewer estimates its network at less than half of the video's bit rate. Then a loss
    ///   above ``Limits/good`` counts as bad.
    package mutating func reported(lost: UInt8, isNarrow: Bool = false, now: Int64) {
        if self.isPaused(now: now) { return }
        self.pausedUntil = nil
        if lost >= self.limits.bad || isNarrow && lost > self.limits.good {
            self.goodSince = nil
            let since = self.badSince ?? now
            self.badSince = since
            guard now &- since >= self.limits.patience else { return }
            self.pausedUntil = now &+ self.nextPause
            self.nextPause = min(self.nextPause * 2, self.limits.longestPause)
            self.badSince = nil
        } else if lost <= self.limits.good {
            self.badSince = nil
            let since = self.goodSince ?? now
            self.goodSince = since
            if now &- since >= self.limits.recovery { self.nextPause = self.limits.pause }
        } else {
            (self.badSince, self.goodSince) = (nil, nil)
        }
    }
}
