import Packager
package import PipelineSpec
package import RoomAPI

extension RoomEvents {
    /// Sets the incarnation in events to that of the room's last worker. A worker that only completes pending work has
    /// no incarnation of its own.
    package func speakForLastWorker(of pipeline: Pipeline) {
        guard let output = pipeline.hls, let last = EndedOutput.lastIncarnation(inDirectory: output.path) else {
            return
        }
        self.setIncarnation(last)
    }
}
