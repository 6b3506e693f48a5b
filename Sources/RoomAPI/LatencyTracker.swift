import Control

/// From a picture's arrival at our socket to the moment its segment could be fetched, for every picture on air.
package struct LatencyTracker: Sendable {
    /// Ticks whose arrival is remembered: two minutes at 30 fps, more than any segment is long.
    private static let window = 4096
    /// Results kept: the last hour and a half of pictures would be 160,000; the last half hour says enough.
    private static let limit = 54_000

    private var arrivals: [Int64: Int64] = [:]
    /// Milliseconds from a frame's arrival to its segment, in no order.
    private(set) var results: [Int32] = []
    private var next = 0
    /// Milliseconds from a frame's arrival to its part, over all renditions, in no order.
    private(set) var partResults: [Int32] = []
    private var nextPart = 0
    private(set) var histogram = DurationHistogram()
    /// By track.
    private(set) var partHistograms: [DurationHistogram]

    /// - Parameter tracks: Renditions with pictures.
    package init(tracks: Int) {
        self.partHistograms = Array(repeating: DurationHistogram(), count: tracks)
    }

    /// - Parameter arrival: Program time of arrival of the newest picture in this tick.
    package mutating func composed(tick: Int64, arrival: Int64) {
        self.arrivals[tick] = arrival
        let oldest = tick &- Int64(Self.window)
        self.arrivals.removeValue(forKey: oldest)
        // Where nothing is published, and a tick without a new picture did not take the one before it away.
        if self.arrivals.count > 2 * Self.window { self.arrivals = self.arrivals.filter { $0.key > oldest } }
    }

    /// Ticks whose arrival is known, and that are not published.
    package var waiting: Int { self.arrivals.count }

    /// The segment with these ticks could be fetched at `time` (program time).
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

    /// The part of one rendition with these ticks could be fetched at `time` (program time).
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

    /// Percentiles of ``partResults``; `nil` before the first part.
    static func partPercentiles(_ results: [Int32]) -> (p50: Int, p95: Int, p99: Int)? {
        let sorted = results.sorted()
        guard let longest = sorted.last else { return nil }
        func percentile(_ part: Int) -> Int {
            let index = sorted.count * part / 100
            return Int(index < sorted.count ? sorted[index] : longest)
        }
        return (percentile(50), percentile(95), percentile(99))
    }

    /// Percentiles of ``results``; `nil` before the first segment.
    static func percentiles(_ results: [Int32]) -> (p50: Int, p95: Int)? {
        let sorted = results.sorted()
        guard !sorted.isEmpty else { return nil }
        return (Int(sorted[sorted.count / 2]), Int(sorted[min(sorted.count - 1, sorted.count * 95 / 100)]))
    }
}
