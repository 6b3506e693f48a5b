import MediaTypes
package import Packager
package import PipelineSpec

/// The outputs' part of the room's state: what they have written, what is missing, and what they are doing.
package struct OutputsState: Sendable {
    /// Number of published segments, slate included; a segment counts once for all renditions.
    package var segments: Int64 = 0
    /// Bytes of all published segments, by track.
    package var bytes: [String: Int64] = [:]
    /// Bytes of the last segment that is not slate, by track.
    var lastSizes: [String: Int] = [:]
    /// Length of the last segment that is not slate, in program frames.
    var lastFrames: Int64 = 0
    /// How the packager has ended; nil while it runs.
    package var packaged: HLSPackager.Outcome?
    /// Whether files of the room's recording were made, or should have been at the end of the room.
    package var isRecorded = false
    /// The state of the room's disk.
    package var disk: DiskState
    /// Parts that are permanently missing from outputs, except MPEG-TS outputs, which count their own losses; see
    /// ``OutputServices/damage``.
    var damage = OutputDamage()
    /// Limits how often failed writes of the HLS output are reported.
    var failures = RepeatedFailures()
    /// The directory that was moved away, emptied or mounted over, and when that was noticed on the monotonic clock;
    /// nil if none was.
    var restoredPlace: (path: String, at: Int64)?
    /// The error of making the recording's files at the end of the room. Outer nil: not known yet; inner nil: there was
    /// none.
    var pendingRecordingWork: MediaError??
    var recordingJobs = RecordingJobs()
    var clips: ClipJobs
    var slate = SlateJob.Progress()
    /// Black frames that stores list in place of lost segments. Outer nil: not encoded yet; inner nil: they cannot be
    /// encoded.
    var uploadSlate: Slate??
    /// Thumbnail sheets that viewers can request, by output id.
    var sprites: [String: SpriteFiles] = [:]

    package init(_ pipeline: Pipeline) {
        self.disk = DiskState(pipeline)
        self.clips = ClipJobs(roomID: pipeline.room.roomID)
    }

    /// Counts a published segment.
    ///
    /// - Returns: Whether it is the first segment of this worker.
    mutating func published(_ segment: PublishedSegment) -> Bool {
        self.segments += 1
        for (track, bytes) in segment.bytes { self.bytes[track, default: 0] += Int64(bytes) }
        if !segment.isSlate { (self.lastSizes, self.lastFrames) = (segment.bytes, Int64(segment.frames.count)) }
        return self.segments == 1
    }
}
