package import Control
import MediaTypes
import Synchronization

/// Latencies of frames in the room, measured by the threads of the program, the encoders and the packager.
///
/// Has its own lock, because it is taken for every frame of every rendition. Readers copy the values and sort them
/// after they have released the lock.
package final class RoomLatencies: Sendable {
    /// The measurements that the lock protects.
    package struct Values: Sendable {
        /// From the arrival of a frame until its segment and its parts are available.
        package var viewing: LatencyTracker
        /// From a frame entering its encoder until it is encoded, and from the last frame of a part until the part is
        /// published.
        package var encoding: PartLatency
        /// From the time at which the last frame of a segment was due until the segment is published.
        package var publishing = DurationHistogram()
    }

    private let values: Mutex<Values>

    /// - Parameter tracks: Number of renditions with video.
    package init(tracks: Int) {
        self.values = Mutex(Values(viewing: LatencyTracker(tracks: tracks), encoding: PartLatency(tracks: tracks)))
    }

    /// Adds measurements.
    package func update(_ body: (inout Values) -> Void) { self.values.withLock { body(&$0) } }

    /// Records that a segment was published.
    ///
    /// - Parameters:
    ///   - frames: Range of program frames in the segment.
    ///   - time: Program time of the publication, in nanoseconds.
    ///   - fps: Frame rate of the program.
    package func published(_ frames: Range<Int64>, at time: Int64, fps: Int) {
        let last = TimeMath.scale(max(0, frames.upperBound &- 1), by: TimeMath.nanoseconds, over: Int64(max(1, fps)))
        self.update { values in
            values.viewing.published(frames, at: time)
            values.publishing.add(time &- last)
        }
    }

    /// From the time at which the last frame of a segment was due until the segment is published.
    package var publishing: DurationHistogram { self.values.withLock(\.publishing) }

    /// From the arrival of a frame until its segment is available, and by track until its part is.
    package var viewing: (segments: DurationHistogram, parts: [DurationHistogram]) {
        self.values.withLock { ($0.viewing.histogram, $0.viewing.partHistograms) }
    }

    /// By track: time that frames spend in the encoder, and time from a part's last frame entering it until the part is
    /// published.
    package var encoding: [PartLatency.Histograms] { self.values.withLock(\.encoding.histograms) }

    /// Milliseconds from a frame's arrival until its segment is available; nil before the first segment.
    package var segmentPercentiles: (p50: Int, p95: Int)? {
        LatencyTracker.percentiles(self.values.withLock(\.viewing.results))
    }

    /// Milliseconds from a frame's arrival until its part is available, over all renditions; nil before the first part.
    package var partPercentiles: (p50: Int, p95: Int, p99: Int)? {
        LatencyTracker.partPercentiles(self.values.withLock(\.viewing.partResults))
    }

    /// Microseconds from the last frame of a part entering the encoder until the part is published; nil before the
    /// first part.
    package var encodingPercentiles: (count: Int, p50: Int64, p99: Int64, max: Int64)? {
        PartLatency.percentiles(self.values.withLock(\.encoding.results))
    }
}
