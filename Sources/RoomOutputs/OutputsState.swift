import MediaTypes
package import Packager
package import PipelineSpec

/// The state of a room's outputs: what they have written, what they lack, and what they are doing. A part of the room's
/// value.
package struct OutputsState: Sendable {
    /// Segments that were published, slate included.
    package var segments: Int64 = 0
    /// Bytes of all these segments, by track.
    package var bytes: [String: Int64] = [:]
    /// Bytes of the last segment that is no slate, by track.
    var lastSizes: [String: Int] = [:]
    /// Length of that segment, in frames of the canvas.
    var lastFrames: Int64 = 0
    /// How the packager has ended; nil while it runs.
    package var packaged: HLSPackager.Outcome?
    /// Whether files of the room's recording were made.
    package var isRecorded = false
    /// The state of the room's disk.
    package var disk: DiskState
    /// What outputs lack permanently, except the MPEG-TS outputs, which count their own losses; see
    /// ``OutputServices/damage``.
    var damage = OutputDamage()
    /// Failed writes of the HLS output.
    var failures = RepeatedFailures()
    /// A directory that was moved away, emptied or mounted over, and when that was noticed, on the machine's clock.
    var restoredPlace: (path: String, at: Int64)?
    /// The error of the recording at the room's end; outer nil before it is known, inner nil if the recording is
    /// complete.
    var recordingDebt: MediaError??
    var recordingJobs = RecordingJobs()
    var clips: ClipJobs
    var slate = SlateJob.Progress()
    /// The black frames that stores get in place of lost segments; nil before they are needed, inner nil if they cannot
    /// be encoded.
    var uploadSlate: Slate??
    /// Thumbnail sheets that viewers can request, by image output.
    var sprites: [String: SpriteFiles] = [:]

    package init(_ pipeline: Pipeline) {
        self.disk = DiskState(pipeline)
        self.clips = ClipJobs(roomID: pipeline.room.roomID)
    }

    /// Counts a segment that was published.
    ///
    /// - Returns: Whether it is the first one of this worker.
    mutating func published(_ segment: PublishedSegment) -> Bool {
        self.segments += 1
        for (track, bytes) in segment.bytes { self.bytes[track, default: 0] += Int64(bytes) }
        if !segment.isSlate { (self.lastSizes, self.lastFrames) = (segment.bytes, Int64(segment.frames.count)) }
        return self.segments == 1
    }
}
