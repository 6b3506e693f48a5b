import HLS
import Synchronization

/// A track's segmenter with a lock of its own, so that encoders of different tracks do not wait for each other.
final class LockedSegmenter: Sendable {
    /// The segmenter; `nil` before the run begins, while the track sleeps, and after the run has finished.
    let state = Mutex<TrackSegmenter?>(nil)

    /// Finishes the segmenter, which accepts no packets after that.
    ///
    /// - Returns: The remaining parts and segments, and the end of the track in ticks of its timescale, `nil` if it has
    ///   no media.
    func finish(cuttingAt end: Int64?) -> (output: [TrackSegmenter.Output], end: Int64?) {
        self.state.withLock { state in
            guard var segmenter = state.take() else { return ([], nil) }
            let output = segmenter.finish(cuttingAt: end)
            return (output, segmenter.endTime)
        }
    }
}
