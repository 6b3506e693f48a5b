package import Control

/// Latencies of each rendition: from the time at which a frame enters its encoder until it is encoded, and from the
/// time at which the last frame of a part enters until the part is published.
package struct PartLatency: Sendable {
    /// Histograms of one rendition's latencies.
    package struct Histograms: Sendable {
        /// Time that frames spend in the encoder.
        package var frames = DurationHistogram()
        /// Time from the last frame of a part entering the encoder until the part is published.
        package var parts = DurationHistogram()
    }

    /// Number of ticks for which a rendition's entry times are remembered: 20 seconds at 60 frames per second, longer
    /// than any encoder delays a frame.
    private static let window: Int64 = 1_200
    /// Limit of remembered entry times per rendition, including those that no later tick has removed.
    private static let mostEntries = 2 * Int(PartLatency.window)
    /// Number of results that are kept: 15 minutes of three renditions with two parts per second.
    private static let limit = 5_400

    private struct Track: Sendable {
        var entries = [Int64: Int64](minimumCapacity: Int(PartLatency.window) + 1)
        var isPassing = false
        var histograms = Histograms()
    }

    private var tracks: [Track]
    /// Microseconds from the entry of a part's last frame to its publication, over all renditions, in no order.
    private(set) var results: [Int32] = []
    private var next = 0

    /// - Parameter tracks: Number of renditions with video.
    package init(tracks: Int) { self.tracks = (0..<tracks).map { _ in Track() } }

    /// Records that a frame enters the encoder of a track. Times are nanoseconds of one monotonic clock.
    package mutating func entered(track: Int, tick: Int64, at time: Int64) {
        guard self.tracks.indices.contains(track) else { return }
        self.tracks[track].entries[tick] = time
        self.tracks[track].entries.removeValue(forKey: tick &- Self.window)
        // If a tick is skipped, then the entry that it would have removed stays.
        guard self.tracks[track].entries.count > Self.mostEntries else { return }
        self.tracks[track].entries = self.tracks[track].entries.filter { $0.key > tick &- Self.window }
    }

    /// Number of remembered entries of all renditions.
    package var remembered: Int { self.tracks.reduce(0) { $0 + $1.entries.count } }

    /// Sets whether a publisher's packets are passed through to the track without encoding from now on. Then
    /// ``coded(track:tick:at:)`` measures nothing.
    package mutating func setPassing(_ isPassing: Bool, track: Int) {
        if self.tracks.indices.contains(track) { self.tracks[track].isPassing = isPassing }
    }

    /// Records that the encoder of a track has output the frame of this tick.
    package mutating func coded(track: Int, tick: Int64, at time: Int64) {
        guard self.tracks.indices.contains(track), !self.tracks[track].isPassing,
            let entry = self.tracks[track].entries[tick]
        else { return }
        self.tracks[track].histograms.frames.add(time &- entry)
    }

    /// Records that a part has become available whose last frame has this tick.
    package mutating func published(track: Int, lastTick: Int64, at time: Int64) {
        guard self.tracks.indices.contains(track), let entry = self.tracks[track].entries[lastTick] else {
            return
        }
        self.tracks[track].histograms.parts.add(time &- entry)
        let microseconds = Int32(clamping: (time &- entry) / 1_000)
        if self.results.count < Self.limit {
            self.results.append(microseconds)
        } else {
            self.results[self.next] = microseconds
            self.next = (self.next + 1) % Self.limit
        }
    }

    /// Histograms by track.
    var histograms: [Histograms] { self.tracks.map(\.histograms) }

    /// Percentiles of ``results`` in microseconds; nil before the first part.
    static func percentiles(_ results: [Int32]) -> (count: Int, p50: Int64, p99: Int64, max: Int64)? {
        let sorted = results.sorted()
        guard let longest = sorted.last else { return nil }
        return (
            sorted.count, Int64(sorted[sorted.count / 2]),
            Int64(sorted[min(sorted.count - 1, sorted.count * 99 / 100)]), Int64(longest)
        )
    }
}
