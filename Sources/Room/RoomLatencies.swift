import Control
import Synchronization

/// How long frames take through the room, measured by the threads of the program, the encoders and the packager.
///
/// A lock of its own: it is taken for every frame of every rendition, and readers take no more than they sort behind it.
final class RoomLatencies: Sendable {
    struct Values: Sendable {
        var viewing: LatencyTracker
        var encoding: PartLatency
    }

    private let values: Mutex<Values>

    /// - Parameter tracks: Renditions with pictures.
    init(tracks: Int) {
        self.values = Mutex(Values(viewing: LatencyTracker(tracks: tracks), encoding: PartLatency(tracks: tracks)))
    }

    /// Adds measurements. No allocation but for what the tables grow by.
    func update(_ body: (inout Values) -> Void) { self.values.withLock { body(&$0) } }

    /// From a frame's arrival to its segment, and by track to its part.
    var viewing: (segments: DurationHistogram, parts: [DurationHistogram]) {
        self.values.withLock { ($0.viewing.histogram, $0.viewing.partHistograms) }
    }

    /// By track.
    var encoding: [PartLatency.Histograms] { self.values.withLock(\.encoding.histograms) }

    /// Milliseconds from a frame's arrival to its segment; `nil` before the first segment.
    var segmentPercentiles: (p50: Int, p95: Int)? {
        LatencyTracker.percentiles(self.values.withLock(\.viewing.results))
    }

    /// Milliseconds from a frame's arrival to its part, over all renditions; `nil` before the first part.
    var partPercentiles: (p50: Int, p95: Int, p99: Int)? {
        LatencyTracker.partPercentiles(self.values.withLock(\.viewing.partResults))
    }

    /// Microseconds from the encoder's entry to the part; `nil` before the first part.
    var encodingPercentiles: (count: Int, p50: Int64, p99: Int64, max: Int64)? {
        PartLatency.percentiles(self.values.withLock(\.encoding.results))
    }
}
