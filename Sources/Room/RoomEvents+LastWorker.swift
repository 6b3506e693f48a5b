import Packager
package import PipelineSpec
package import RoomAPI

extension RoomEvents {
    /// Sets the incarnation of events to the room's last worker: a worker that only finishes pending work does not
    /// count as one.
    package func speakForLastWorker(of pipeline: Pipeline) {
        guard let output = pipeline.hls, let last = EndedOutput.lastIncarnation(inDirectory: output.path) else {
            return
        }
        self.setIncarnation(last)
    }
}
