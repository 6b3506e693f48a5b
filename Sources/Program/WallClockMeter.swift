package import MediaTypes

/// How far the world's time is ahead of a source's own, from what the publisher says the time is.
///
/// The median of the last samples: a few stamps that are garbage do not move it, and a publisher that sets its clock moves
/// it once, when most samples say so. Samples that contradict each other leave what was known.
///
/// Nanoseconds throughout.
package struct WallClockMeter: Sendable {
    /// Samples kept, and needed for an answer.
    static let window = 15
    static let needed = 3
    /// A stamp farther than this from the server's own clock is not believed: no publisher in use is that late.
    package static let plausible: Int64 = 10_000_000_000
    /// Samples agree when half of them are no farther than this from the median: one and a half pictures at 30 fps, since
    /// time codes count pictures.
    static let agreement: Int64 = 50_000_000

    private var samples: [Int64] = []
    private var next = 0
    /// World time minus the source's time; `nil` before ``needed`` samples agree.
    package private(set) var offset: Int64?

    package init() {}

    /// Takes a stamp.
    ///
    /// - Parameters:
    ///   - stamp: What the publisher says.
    ///   - time: The source's own time of what was stamped.
    ///   - server: The server's time when it came, in nanoseconds since the Unix epoch.
    /// - Returns: Whether it was believed.
    @discardableResult
    package mutating func note(_ stamp: WallClockTime, at time: Int64, server: Int64) -> Bool {
        let wall = stamp.resolved(near: server)
        // Both times are about now; what a publisher sends may be anything.
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

    /// The samples to come cannot be compared with those before.
    package mutating func restart() { self = WallClockMeter() }

    private mutating func estimate() {
        guard self.samples.count >= Self.needed else { return }
        let sorted = self.samples.sorted()
        let median = sorted[sorted.count / 2]
        let deviations = sorted.map { ($0 &- median).magnitude }.sorted()
        if deviations[deviations.count / 2] <= UInt64(Self.agreement) { self.offset = median }
    }
}
