import Control
import MediaTypes
import Synchronization

/// From a picture's arrival at our socket to the moment its segment could be fetched, for every picture on air.
package final class LatencyTracker: Sendable {
    /// Ticks whose arrival is remembered: two minutes at 30 fps, more than any segment is long.
    private static let window = 4096
    /// Results kept: the last hour and a half of pictures would be 160,000; the last half hour says enough.
    private static let limit = 54_000

    private struct State {
        var arrivals: [Int64: Int64] = [:]
        var results: [Int32] = []
        var next = 0
        var partResults: [Int32] = []
        var nextPart = 0
        var histogram = DurationHistogram()
        /// By track.
        var partHistograms: [DurationHistogram]
    }

    private let state: Mutex<State>

    /// - Parameter tracks: Renditions with pictures.
    package init(tracks: Int) {
        self.state = Mutex(State(partHistograms: Array(repeating: DurationHistogram(), count: tracks)))
    }

    /// - Parameter arrival: Program time of arrival of the newest picture in this tick.
    package func composed(tick: Int64, arrival: Int64) {
        self.state.withLock { state in
            state.arrivals[tick] = arrival
            let oldest = tick &- Int64(Self.window)
            state.arrivals.removeValue(forKey: oldest)
            // Where nothing is published, and a tick without a new picture did not take the one before it away.
            if state.arrivals.count > 2 * Self.window { state.arrivals = state.arrivals.filter { $0.key > oldest } }
        }
    }

    /// Ticks whose arrival is known, and that are not published.
    package var waiting: Int { self.state.withLock { $0.arrivals.count } }

    /// The segment with these ticks could be fetched at `time` (program time).
    func published(_ ticks: Range<Int64>, at time: Int64) {
        self.state.withLock { state in
            guard ticks.count <= Self.window else { return }
            for tick in ticks {
                guard let arrival = state.arrivals.removeValue(forKey: tick) else { continue }
                state.histogram.add(time &- arrival)
                let milliseconds = Int32(clamping: (time &- arrival) / 1_000_000)
                if state.results.count < Self.limit {
                    state.results.append(milliseconds)
                } else {
                    state.results[state.next] = milliseconds
                    state.next = (state.next + 1) % Self.limit
                }
            }
        }
    }

    /// The part of one rendition with these ticks could be fetched at `time` (program time).
    func partPublished(track: Int, _ ticks: Range<Int64>, at time: Int64) {
        self.state.withLock { state in
            guard ticks.count <= Self.window, state.partHistograms.indices.contains(track) else { return }
            for tick in ticks {
                guard let arrival = state.arrivals[tick] else { continue }
                state.partHistograms[track].add(time &- arrival)
                let milliseconds = Int32(clamping: (time &- arrival) / 1_000_000)
                if state.partResults.count < Self.limit {
                    state.partResults.append(milliseconds)
                } else {
                    state.partResults[state.nextPart] = milliseconds
                    state.nextPart = (state.nextPart + 1) % Self.limit
                }
            }
        }
    }

    /// To the segment, and by track to the part, of every picture so far.
    var histograms: (segments: DurationHistogram, parts: [DurationHistogram]) {
        self.state.withLock { ($0.histogram, $0.partHistograms) }
    }

    /// Percentiles in milliseconds from a picture's arrival to its part, over all renditions; `nil` before the first part.
    func partPercentiles() -> (p50: Int, p95: Int, p99: Int)? {
        let sorted = self.state.withLock { $0.partResults }.sorted()
        guard let longest = sorted.last else { return nil }
        func percentile(_ part: Int) -> Int {
            let index = sorted.count * part / 100
            return Int(index < sorted.count ? sorted[index] : longest)
        }
        return (percentile(50), percentile(95), percentile(99))
    }

    /// Percentiles in milliseconds; `nil` before the first segment.
    func percentiles() -> (p50: Int, p95: Int)? {
        let sorted = self.state.withLock { $0.results }.sorted()
        guard !sorted.isEmpty else { return nil }
        return (Int(sorted[sorted.count / 2]), Int(sorted[min(sorted.count - 1, sorted.count * 95 / 100)]))
    }
}
