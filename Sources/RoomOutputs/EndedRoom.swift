package import MediaTypes
import Packager
package import PipelineSpec

/// Determines from the directory of an HLS output whether its room has ended.
package enum EndedRoom {
    /// Whether the room has ended. A worker that is started for it then only completes pending work.
    package static func exists(_ pipeline: Pipeline) -> Bool { self.open(pipeline) != nil }

    /// Removes the temporary clip files of an ended room, since no other worker will make these clips.
    package static func removeLeftovers(_ pipeline: Pipeline) {
        if self.exists(pipeline) { pipeline.removeClipLeftovers() }
    }

    /// The error of an offline job that has ended with lost segments. A worker that is started again for the job must
    /// not report success.
    ///
    /// - Returns: nil if the job lost no segments, and for a live room, whose result does not depend on lost segments.
    package static func errorOfJob(_ pipeline: Pipeline) -> MediaError? {
        guard pipeline.clock == .offline, let ended = self.open(pipeline), ended.lostSegments > 0 else { return nil }
        return MediaError(
            .outputLost,
            "the job in \(pipeline.hls?.path ?? "") has ended, and its playlists have gaps in place of lost segments: "
                + "\(ended.lostSegments)",
            at: "hls",
            fix: "run the job again with --new-session")
    }

    private static func open(_ pipeline: Pipeline) -> EndedOutput? {
        guard let output = pipeline.hls, let settings = try? HLSOutputSettings(output, pipeline) else { return nil }
        return try? EndedOutput.open(settings)
    }
}
