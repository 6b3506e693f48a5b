import Control
import Synchronization

/// From the moment a picture enters its encoder to the moment it is out of it, and from the last picture of a part to the moment
/// players can have the part; for each rendition.
package final class PartLatency: Sendable {
    /// Durations of one rendition.
    struct Histograms: Sendable {
        /// Of pictures that were encoded.
        var pictures = DurationHistogram()
        var parts = DurationHistogram()
    }

    /// Pictures of a rendition whose entry is remembered: 20 seconds at 60 a second, longer than any encoder holds one.
    private static let window: Int64 = 1_200
    /// Results kept: the newest quarter of an hour of three renditions with two parts a second.
    private static let limit = 5_400

    private struct Track {
        var entries = [Int64: Int64](minimumCapacity: Int(PartLatency.window) + 1)
        var isPassing = false
        var histograms = Histograms()
    }

    private struct State {
        var tracks: [Track]
        var results: [Int32] = []
        var next = 0
    }

    private let state: Mutex<State>

    /// - Parameter tracks: Renditions with pictures.
    package init(tracks: Int) { self.state = Mutex(State(tracks: (0..<tracks).map { _ in Track() })) }

    /// A picture enters the encoder of a track; times in nanoseconds of one clock.
    package func entered(track: Int, tick: Int64, at time: Int64) {
        self.state.withLock { state in
            guard state.tracks.indices.contains(track) else { return }
            let oldest = tick &- Self.window
            state.tracks[track].entries[tick] = time
            state.tracks[track].entries.removeValue(forKey: oldest)
            // A tick that was lost took none away.
            if state.tracks[track].entries.count > Int(Self.window) {
                state.tracks[track].entries = state.tracks[track].entries.filter { $0.key > oldest }
            }
        }
    }

    /// Pictures of a track whose entry is remembered.
    package func remembered(track: Int) -> Int {
        self.state.withLock { $0.tracks.indices.contains(track) ? $0.tracks[track].entries.count : 0 }
    }

    /// A publisher's own packets stand for the track from here on, or no more.
    func setPassing(_ isPassing: Bool, track: Int) {
        self.state.withLock { state in
            if state.tracks.indices.contains(track) { state.tracks[track].isPassing = isPassing }
        }
    }

    /// The picture is out of its encoder.
    func coded(track: Int, tick: Int64, at time: Int64) {
        self.state.withLock { state in
            guard state.tracks.indices.contains(track), !state.tracks[track].isPassing,
                let entry = state.tracks[track].entries[tick]
            else { return }
            state.tracks[track].histograms.pictures.add(time &- entry)
        }
    }

    /// The part whose last picture this is can be had.
    func published(track: Int, lastTick: Int64, at time: Int64) {
        self.state.withLock { state in
            guard state.tracks.indices.contains(track), let entry = state.tracks[track].entries[lastTick] else {
                return
            }
            state.tracks[track].histograms.parts.add(time &- entry)
            let microseconds = Int32(clamping: (time &- entry) / 1_000)
            if state.results.count < Self.limit {
                state.results.append(microseconds)
            } else {
                state.results[state.next] = microseconds
                state.next = (state.next + 1) % Self.limit
            }
        }
    }

    /// By track.
    var histograms: [Histograms] { self.state.withLock { $0.tracks.map(\.histograms) } }

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
