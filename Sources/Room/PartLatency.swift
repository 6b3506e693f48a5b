import Control
import Synchronization

/// From the moment the last picture of a part enters its encoder to the moment players can have the part.
final class PartLatency: Sendable {
    /// Pictures of a rendition whose entry is remembered: 20 seconds at 60 a second, longer than any encoder holds one.
    private static let window: Int64 = 1_200
    /// Results kept: the newest quarter of an hour of three renditions with two parts a second.
    private static let limit = 5_400

    private struct State {
        var entries: [[Int64: Int64]] = []
        var results: [Int32] = []
        var next = 0
        var histogram = DurationHistogram()
    }

    private let state = Mutex(State())

    /// A picture enters the encoder of a track; times in nanoseconds of one clock.
    func entered(track: Int, tick: Int64, at time: Int64) {
        guard track >= 0, track < 64 else { return }
        self.state.withLock { state in
            while state.entries.count <= track {
                state.entries.append(Dictionary(minimumCapacity: Int(Self.window) + 1))
            }
            state.entries[track][tick] = time
            state.entries[track].removeValue(forKey: tick &- Self.window)
        }
    }

    /// The part whose last picture this is can be had.
    func published(track: Int, lastTick: Int64, at time: Int64) {
        self.state.withLock { state in
            guard state.entries.indices.contains(track), let entry = state.entries[track][lastTick] else { return }
            state.histogram.add(time &- entry)
            let microseconds = Int32(clamping: (time &- entry) / 1_000)
            if state.results.count < Self.limit {
                state.results.append(microseconds)
            } else {
                state.results[state.next] = microseconds
                state.next = (state.next + 1) % Self.limit
            }
        }
    }

    var histogram: DurationHistogram { self.state.withLock { $0.histogram } }

    /// Microseconds; `nil` before the first part.
    func percentiles() -> (count: Int, p50: Int64, p99: Int64, max: Int64)? {
        let sorted = self.state.withLock { $0.results }.sorted()
        guard let longest = sorted.last else { return nil }
        return (
            sorted.count, Int64(sorted[sorted.count / 2]),
            Int64(sorted[min(sorted.count - 1, sorted.count * 99 / 100)]), Int64(longest)
        )
    }
}
