package import MediaTypes

/// Measures the offset between wall-clock time and a source's own time, from the timestamps that the publisher sends.
///
/// The offset is the median of the last samples: a few wrong stamps do not affect it. If a publisher sets its clock,
/// the offset changes once, when most samples agree. Samples that contradict each other leave the last offset
/// unchanged.
///
/// All times in nanoseconds.
package struct WallClockMeter: Sendable {
    /// Maximum number of samples that are kept.
    static let window = 15
    /// Minimum number of samples for an offset.
    static let needed = 3
    /// A stamp that differs more than this from the server's clock is ignored: no real publisher is that late.
    package static let plausible: Int64 = 10_000_000_000
    /// Samples agree if half of them are within this distance of the median: one and a half frames at 30 fps, because
    /// time codes count frames.
    static let agreement: Int64 = 50_000_000

    private var samples: [Int64] = []
    private var next = 0
    /// Wall-clock time minus the source's time; `nil` until there are at least ``needed`` samples and they agree.
    package private(set) var offset: Int64?

    package init() {}

    /// Adds a stamp.
    ///
    /// - Parameters:
    ///   - stamp: The wall-clock time that the publisher sent.
    ///   - time: The source's own time of the stamped frame.
    ///   - server: The server's time at arrival, in nanoseconds since the Unix epoch.
    /// - Returns: Whether the stamp was plausible.
    @discardableResult
    package mutating func note(_ stamp: WallClockTime, at time: Int64, server: Int64) -> Bool {
        let wall = stamp.resolved(near: server)
        // Both times are close to now, but a publisher may send anything.
        guard (wall &- server).magnitude <= UInt64(Self.plausible) else { return false }
        let sample = wall &- time
        if self.samples.count < Self.window {
            self.samples.append(sample)
        } else {
            self.samples[self.next] = sample
            self.next = (self.next + 1) % Self.window
        }
        self.estimate()
        return true
    }

    /// Discards all samples and the offset after a discontinuity, because later samples cannot be compared with them.
    package mutating func restart() { self = WallClockMeter() }

    private mutating func estimate() {
        guard self.samples.count >= Self.needed else { return }
        let sorted = self.samples.sorted()
        let median = sorted[sorted.count / 2]
        let deviations = sorted.map { ($0 &- median).magnitude }.sorted()
        if deviations[deviations.count / 2] <= UInt64(Self.agreement) { self.offset = median }
    }
}
