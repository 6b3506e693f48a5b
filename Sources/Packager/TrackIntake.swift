import HLS
import Synchronization

/// The segmenter of one track behind its lock: encoders of different tracks never wait for each other here.
final class TrackIntake: Sendable {
    /// `nil` before the run begins and after it has finished.
    let state = Mutex<TrackSegmenter?>(nil)

    /// Takes the segmenter out of use.
    ///
    /// - Returns: What was still open, and where the track ends in ticks of its timescale.
    func finish(cuttingAt end: Int64?) -> (output: [TrackSegmenter.Output], end: Int64?) {
        self.state.withLock { state in
            guard var segmenter = state.take() else { return ([], nil) }
            let output = segmenter.finish(cuttingAt: end)
            return (output, segmenter.endTime)
        }
    }
}
