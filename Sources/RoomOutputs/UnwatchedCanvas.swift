package import Encoding
package import PipelineSpec
package import Program
import MediaTypes
import Synchronization

/// In a room without passthrough: lets only key frames of the sources be decoded while all renditions sleep, since nothing
/// shows the canvas. Used on the program thread.
package final class UnwatchedCanvas: Sendable {
    private struct State {
        var need: DecodeNeed
        var canvas = SnapshotService.Canvas()
    }

    private let control: EncoderControl
    private let state: Mutex<State>

    /// Makes the object; nil if a rendition is always encoded, or if a raw output takes every canvas.
    package init?(_ pipeline: Pipeline, _ ladder: EncodingStage) {
        let renditions = pipeline.videoRenditions
        guard !renditions.isEmpty, renditions.allSatisfy({ $0.when == .watched }), pipeline.raws.isEmpty,
            pipeline.clock != .offline
        else { return nil }
        self.control = ladder.control
        self.state = Mutex(State(need: DecodeNeed(fps: pipeline.canvas.fps)))
    }

    /// Decides for the next tick. Called once for every tick, in order.
    ///
    /// - Parameter isStillWanted: Whether a still of the current canvas is requested.
    package func step(_ tick: Int64, _ view: FullCanvasSource, isStillWanted: Bool) -> PassthroughSwitch.Outcome {
        let facts = DecodeNeed.Facts(
            passed: nil, isEncoded: self.control.encodes(), isRecorded: false, isStillWanted: isStillWanted,
            isFresh: view.areAllFresh)
        return self.state.withLock { state in
            let decision = state.need.step(tick, facts)
            let before = state.canvas
            state.canvas = SnapshotService.Canvas(isCurrent: decision.isCanvasCurrent)
            return PassthroughSwitch.Outcome(
                keyFramesOnly: decision.keyFramesOnly, canvas: state.canvas == before ? nil : state.canvas,
                keyFrameSource: nil)
        }
    }
}
