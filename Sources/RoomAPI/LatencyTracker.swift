import Control

/// Latency of the newest source frame in each tick: from its arrival at the worker's socket until the tick's segment, or
/// its part, can be requested.
package struct LatencyTracker: Sendable {
    /// Number of ticks whose arrival is remembered: two minutes at 30 fps, which is more than the longest segment.
    private static let window = 4096
    /// Number of results that are kept of each kind: for segments the last half hour at 30 fps. The parts of all
    /// renditions share one list.
    private static let limit = 54_000

    private var arrivals: [Int64: Int64] = [:]
    /// Milliseconds from a frame's arrival until its segment is available, of the last ``limit`` ticks with a new frame,
    /// unordered.
    private(set) var results: [Int32] = []
    private var next = 0
    /// Milliseconds from a frame's arrival until its part is available, over all renditions, unordered.
    private(set) var partResults: [Int32] = []
    private var nextPart = 0
    private(set) var histogram = DurationHistogram()
    /// Latency until the part is available, by track.
    private(set) var partHistograms: [DurationHistogram]

    /// - Parameter tracks: Number of renditions with video.
    package init(tracks: Int) {
        self.partHistograms = Array(repeating: DurationHistogram(), count: tracks)
    }

    /// Records that a tick with a new source frame was composed.
    ///
    /// - Parameter arrival: Program time at which the newest frame in the tick arrived, in nanoseconds.
    package mutating func composed(tick: Int64, arrival: Int64) {
        self.arrivals[tick] = arrival
        let oldest = tick &- Int64(Self.window)
        self.arrivals.removeValue(forKey: oldest)
        // Limits the memory if nothing is published. Ticks without a new frame do not remove the oldest entry.
        if self.arrivals.count > 2 * Self.window { self.arrivals = self.arrivals.filter { $0.key > oldest } }
    }

    /// Number of remembered ticks whose segment is not published yet.
    package var waiting: Int { self.arrivals.count }

    /// Records that the segment with these ticks became available at `time` (program time in nanoseconds).
    package mutating func published(_ ticks: Range<Int64>, at time: Int64) {
        guard ticks.count <= Self.window else { return }
        for tick in ticks {
            guard let arrival = self.arrivals.removeValue(forKey: tick) else { continue }
            self.histogram.add(time &- arrival)
            let milliseconds = Int32(clamping: (time &- arrival) / 1_000_000)
            if self.results.count < Self.limit {
                self.results.append(milliseconds)
            } else {
                self.results[self.next] = milliseconds
                self.next = (self.next + 1) % Self.limit
            }
        }
    }

    /// Records that a rendition's part with these ticks became available at `time` (program time in nanoseconds).
    package mutating func partPublished(track: Int, _ ticks: Range<Int64>, at time: Int64) {
        guard ticks.count <= Self.window, self.partHistograms.indices.contains(track) else { return }
        for tick in ticks {
            guard let arrival = self.arrivals[tick] else { continue }
            self.partHistograms[track].add(time &- arrival)
            let milliseconds = Int32(clamping: (time &- arrival) / 1_000_000)
            if self.partResults.count < Self.limit {
                self.partResults.append(milliseconds)
            } else {
                self.partResults[self.nextPart] = milliseconds
                self.nextPart = (self.nextPart + 1) % Self.limit
            }
        }
    }

    /// Percentiles of ``partResults`` in milliseconds; nil before the first part.
    static func partPercentiles(_ results: [Int32]) -> (p50: Int, p95: Int, p99: Int)? {
        let sorted = results.sorted()
        guard let longest = sorted.last else { return nil }
        func percentile(_ part: Int) -> Int {
            let index = sorted.count * part / 100
            return Int(index < sorted.count ? sorted[index] : longest)
        }
        return (percentile(50), percentile(95), percentile(99))
    }

    /// Percentiles of ``results`` in milliseconds; nil before the first segment.
    static func percentiles(_ results: [Int32]) -> (p50: Int, p95: Int)? {
        let sorted = results.sorted()
        guard !sorted.isEmpty else { return nil }
        return (Int(sorted[sorted.count / 2]), Int(sorted[min(sorted.count - 1, sorted.count * 95 / 100)]))
    }
}
