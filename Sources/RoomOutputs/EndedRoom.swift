package import MediaTypes
import Packager
package import PipelineSpec

/// What the directory of an HLS output says of a room that is over.
package enum EndedRoom {
    /// The room is over: another worker is started only to finish what is left.
    package static func exists(_ pipeline: Pipeline) -> Bool { self.open(pipeline) != nil }

    /// Removes the temporary clip files of an ended room: no other worker comes to make clips of it.
    package static func removeLeftovers(_ pipeline: Pipeline) {
        if self.exists(pipeline) { pipeline.removeClipLeftovers() }
    }

    /// Why an offline job that has ended before was a failure: a worker that is started for it again must not report a success.
    ///
    /// - Returns: nil for a job that lost nothing, and for a live room, which is over either way.
    package static func errorOfJob(_ pipeline: Pipeline) -> MediaError? {
        guard pipeline.clock == .offline, let ended = self.open(pipeline), ended.lostSegments > 0 else { return nil }
        return MediaError(
            .outputLost,
            "the job that has ended in \(pipeline.hls?.path ?? "") has lost \(ended.lostSegments) segments", at: "hls",
            fix: "run it again with --new-session")
    }

    private static func open(_ pipeline: Pipeline) -> EndedOutput? {
        guard let output = pipeline.hls, let settings = try? HLSOutputSettings(output, pipeline) else { return nil }
        return try? EndedOutput.open(settings)
    }
}
