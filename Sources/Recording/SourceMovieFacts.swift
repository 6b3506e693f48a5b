import HLS
package import MediaTypes

/// What one file of a source's recording contains: the content of its sidecar.
package struct SourceMovieFacts: Sendable, Hashable {
    /// Why a file ended.
    package enum End: String, Sendable, Hashable, CaseIterable {
        /// The publisher has left, or another connection took over.
        case publicationEnded
        /// A command, or a change of the document, has stopped the recording.
        case stopped
        /// The codec, its parameters or the tracks have changed; the next file continues.
        case formatChanged
        /// The room has ended, or its worker was stopped.
        case workerStopped
        /// The disk is nearly full; the next file continues when there is space.
        case diskFull
        /// The worker was killed; a later worker has completed the file up to its last whole part.
        case workerKilled
        /// The file could not be written.
        case writeFailed
    }

    /// A track that is not recorded.
    package struct Skipped: Sendable, Hashable {
        package let kind: TrackKind
        package let track: UInt8
        package let codec: CodecName
        package let reason: String
    }

    /// Two successive frames of a track whose decoding times are a second or more apart.
    package struct Gap: Sendable, Hashable {
        package let kind: TrackKind
        package let track: UInt8
        /// Decoding time of the last frame before it, in nanoseconds of the source's time.
        package let start: Int64
        /// Difference between the decoding times, in nanoseconds.
        package let duration: Int64
    }

    /// A track of the file.
    package struct Track: Sendable, Hashable {
        package let kind: TrackKind
        package let number: UInt8
        package let codec: String
        package let timescale: Int64
        package let width: Int
        package let height: Int
        package var frames = 0
        package var keyFrames = 0
        package var bytes: Int64 = 0

        init(_ track: SourceMovieTrack, number: UInt8) {
            (self.kind, self.number, self.codec) = (track.kind, number, track.codecString)
            (self.timescale, self.width, self.height) = (track.timescale, track.width, track.height)
        }
    }

    /// Most gaps that are listed; later ones are not.
    static let mostGaps = 256

    /// Number of the file among those of the publication, from 1.
    package var part = 1
    /// Time 0 of the file, and the end of its last frame, in nanoseconds of the source's time.
    package var zero: Int64 = 0
    package var end: Int64 = 0
    /// When the first and the last recorded frame arrived, in nanoseconds of the monotonic clock.
    package var arrival: Int64 = 0
    package var lastArrival: Int64 = 0
    package var tracks: [Track] = []
    package var skipped: [Skipped] = []
    package var gaps: [Gap] = []
    /// Frames that were dropped from the full queue before the writer.
    package var droppedVideo = 0
    package var droppedAudio = 0
    /// Video frames that were not recorded because no key frame had arrived.
    package var beforeKeyFrame = 0
    /// Frames before or in this file that were lost because the disk could not be written or was nearly full, or because
    /// the audio's parameters changed twice before one key frame.
    package var lost = 0

    package init() {}

    /// Length of the file in nanoseconds.
    package var duration: Int64 { self.end &- self.zero }
    /// Frames of all tracks.
    package var frames: Int { self.tracks.reduce(0) { $0 + $1.frames } }

    /// Resets the counts for the next file. The list of tracks that are not recorded stays.
    mutating func nextFile() {
        var next = SourceMovieFacts()
        next.skipped = self.skipped
        (next.part, next.lost) = (self.part, self.tracks.isEmpty ? self.lost : 0)
        // What was dropped before a file could be opened belongs to the file that follows.
        if self.tracks.isEmpty {
            (next.droppedVideo, next.droppedAudio, next.beforeKeyFrame) = (
                self.droppedVideo, self.droppedAudio, self.beforeKeyFrame
            )
        }
        self = next
    }
}
