import HLS
package import MediaTypes

/// A finished recording: the files that were made from a recording session. All are complete and flushed to disk.
package struct FinishedRecording: Sendable, Hashable {
    /// A file of a finished recording.
    package struct File: Sendable, Hashable {
        /// File name in the recording's directory.
        package let name: String
        package let byteCount: Int
        /// SHA-256 of the content in hexadecimal digits.
        package let checksum: String
        /// Whether the file is a segment or an initialization segment that the playlists refer to.
        package let isSegment: Bool

        init(name: String, byteCount: Int, checksum: String, isSegment: Bool = false) {
            self.name = name
            self.byteCount = byteCount
            self.checksum = checksum
            self.isSegment = isSegment
        }
    }

    package let roomID: String
    /// Date of the first frame: nanoseconds since the Unix epoch.
    package let start: Int64
    package let durationMs: Int64
    /// Number of video frames in the movie file with the most frames.
    package let frames: Int
    package let chapters: [Chapter]
    package let files: [File]
    /// Which part of the room's media the recording contains.
    package let coverage: RecordingCoverage

    /// Content of `recording.json`.
    package var json: JSONValue { self.described(files: self.files) }

    /// The content of `recording.json` without the segment files, which are numerous.
    package var summary: JSONValue {
        self.described(files: self.files.filter { !$0.isSegment })
    }

    private func described(files: [File]) -> JSONValue {
        let chapters = self.chapters.map { chapter -> JSONValue in
            ["startMs": .integer(chapter.startMs), "title": .string(chapter.title)]
        }
        let files = files.map { file -> JSONValue in
            ["name": .string(file.name), "bytes": JSONValue(file.byteCount), "sha256": .string(file.checksum)]
        }
        return [
            "roomId": .string(self.roomID), "start": .string(ProgramDate.format(self.start)),
            "durationMs": .integer(self.durationMs), "frames": JSONValue(self.frames),
            "complete": .bool(self.coverage.isComplete), "incomplete": self.coverage.json,
            "chapters": .array(chapters), "files": .array(files),
        ]
    }
}
