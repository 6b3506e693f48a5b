package import Control
import MediaTypes
import Synchronization

/// How long frames take through the room, measured by the threads of the program, the encoders and the packager.
///
/// A lock of its own: it is taken for every frame of every rendition, and readers take no more than they sort behind it.
package final class RoomLatencies: Sendable {
    /// The measurements behind the lock.
    package struct Values: Sendable {
        /// From a frame's arrival to its segment and its parts.
        package var viewing: LatencyTracker
        /// From a frame's entry into its encoder to its part.
        package var encoding: PartLatency
        /// From the time at which a segment's last frame was due to the segment.
        package var publishing = DurationHistogram()
    }

    private let values: Mutex<Values>

    /// - Parameter tracks: Renditions with pictures.
    package init(tracks: Int) {
        self.values = Mutex(Values(viewing: LatencyTracker(tracks: tracks), encoding: PartLatency(tracks: tracks)))
    }

    /// Adds measurements. No allocation but for what the tables grow by.
    package func update(_ body: (inout Values) -> Void) { self.values.withLock { body(&$0) } }

    /// Records that a segment was published.
    ///
    /// - Parameters:
    ///   - frames: Its frames of the program.
    ///   - time: Program time in nanoseconds.
    ///   - fps: Frames of the program per second.
    package func published(_ frames: Range<Int64>, at time: Int64, fps: Int) {
        let last = TimeMath.scale(max(0, frames.upperBound &- 1), by: TimeMath.nanoseconds, over: Int64(max(1, fps)))
        self.update { values in
            values.viewing.published(frames, at: time)
            values.publishing.add(time &- last)
        }
    }

    /// From the time at which a segment's last frame was due to the segment.
    package var publishing: DurationHistogram { self.values.withLock(\.publishing) }

    /// From a frame's arrival to its segment, and by track to its part.
    package var viewing: (segments: DurationHistogram, parts: [DurationHistogram]) {
        self.values.withLock { ($0.viewing.histogram, $0.viewing.partHistograms) }
    }

    /// Time in the encoder, and from a part's last frame to the part, by track.
    package var encoding: [PartLatency.Histograms] { self.values.withLock(\.encoding.histograms) }

    /// Milliseconds from a frame's arrival to its segment; `nil` before the first segment.
    package var segmentPercentiles: (p50: Int, p95: Int)? {
        LatencyTracker.percentiles(self.values.withLock(\.viewing.results))
    }

    /// Milliseconds from a frame's arrival to its part, over all renditions; `nil` before the first part.
    package var partPercentiles: (p50: Int, p95: Int, p99: Int)? {
        LatencyTracker.partPercentiles(self.values.withLock(\.viewing.partResults))
    }

    /// Microseconds from the encoder's entry to the part; `nil` before the first part.
    package var encodingPercentiles: (count: Int, p50: Int64, p99: Int64, max: Int64)? {
        PartLatency.percentiles(self.values.withLock(\.encoding.results))
    }
}
