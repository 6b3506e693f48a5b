/// Estimates the number of players from the playback time that their playlist requests cover: each player requests one
/// second of playback per second. A value without a clock: times are arguments.
package struct ViewerEstimate: Sendable {
    /// Time span in nanoseconds over which the estimate is averaged: three reloads of a playlist with segments of ten
    /// seconds.
    package static let window: Int64 = 30_000_000_000
    /// Minimum time between two samples in nanoseconds.
    private static let pace: Int64 = 1_000_000_000

    private var samples: [(time: Int64, watched: Int64)] = []

    package init() {}

    /// Records a sample, unless the last one is less than a second old.
    ///
    /// - Parameters:
    ///   - watched: Playback time in milliseconds that all requests so far cover.
    ///   - now: Nanoseconds of a monotonic clock.
    package mutating func note(_ watched: Int64, at now: Int64) {
        guard now &- (self.samples.last?.time ?? .min / 2) >= Self.pace else { return }
        self.samples.append((now, watched))
        // One sample at the beginning of the window, or before it, is kept.
        while self.samples.count > 1, now &- self.samples[1].time >= Self.window { self.samples.removeFirst() }
    }

    /// Returns the average number of players in about the last 30 seconds, rounded. A time before the first sample
    /// counts as without players, so players that have just arrived count gradually.
    package func viewers(_ watched: Int64, at now: Int64) -> Int64 {
        guard let first = self.samples.first else { return 0 }
        let span = max(Self.window, now &- first.time) / 1_000_000
        return (watched &- first.watched &+ span / 2) / span
    }
}
