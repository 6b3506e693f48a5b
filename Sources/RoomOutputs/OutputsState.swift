package import MediaTypes
package import Packager
package import PipelineSpec

/// What the outputs of a room have written, what they lack, and what they are doing: a part of the room's value.
package struct OutputsState: Sendable {
    /// Segments that were published, slate included.
    package var segments: Int64 = 0
    /// Bytes of the last segment that is no slate, by track.
    package var lastSizes: [String: Int] = [:]
    /// Length of that segment, in frames of the canvas.
    package var lastFrames: Int64 = 0
    /// How the packager has ended; nil before that.
    package var packaged: HLSPackager.Outcome?
    /// Files are made of the room's recording.
    package var isRecorded = false
    /// What is known of the room's disk.
    package var disk: DiskState
    /// What outputs lack for good, but for the MPEG-TS outputs, which count themselves; see ``OutputServices/damage``.
    var damage = OutputDamage()
    /// Failed writes of the HLS output.
    var failures = RepeatedFailures()
    /// A directory that was moved away or mounted over, and when that was noticed, on the machine's clock.
    var restoredPlace: (path: String, at: Int64)?
    /// What the recording lacks at the room's end; nil before that is known, inner nil if it lacks nothing.
    var recordingDebt: MediaError??
    var recordingJobs = RecordingJobs()
    var clips: ClipJobs
    var slate = SlateJob.Progress()
    /// The black frames that stores get in place of what they have lost; nil before they are needed, inner nil if they cannot be
    /// encoded.
    var uploadSlate: Slate??
    /// Sheets of stills that viewers may have, by image output.
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
        if !segment.isSlate { (self.lastSizes, self.lastFrames) = (segment.bytes, Int64(segment.frames.count)) }
        return self.segments == 1
    }
}
