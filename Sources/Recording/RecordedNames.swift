import MediaTypes

/// Names of the files in a recording's directory.
package enum RecordedNames {
    /// Name of the manifest of a recording session (``FinishedRecording/json``), which is written last.
    package static let manifest = "recording.json"
    /// Default name of the subdirectory for clips in the directory of another output.
    package static let clips = "clips"
    /// Suffix of the name of an MP4 file that is being written.
    package static let partialMark = ".partial"

    private static let sessionPrefix = "take-"

    /// Returns the file name of a rendition's MP4 file.
    static func movie(_ rendition: String) -> String { "\(rendition).mp4" }

    /// Returns the directory name of a recording session after the first.
    static func take(_ number: Int) -> String { "\(self.sessionPrefix)\(number)" }

    /// Whether a directory name is that of a recording session after the first.
    package static func isSession(_ name: String) -> Bool {
        guard name.hasPrefix(self.sessionPrefix), let number = Int(name.dropFirst(self.sessionPrefix.count)) else {
            return false
        }
        return number >= 2 && name == self.take(number)
    }

    static func playlist(_ track: String) -> String { "\(track).m3u8" }

    /// Returns the file name of an I-frame playlist. It is the name of the live one, to which the recording's multivariant
    /// playlist refers.
    static func iFramePlaylist(_ track: String) -> String { "\(track)-iframes.m3u8" }

    /// Whether a name has 1 to 80 ASCII letters, digits, `.`, `_` or `-` and does not begin with a dot, so that a
    /// manipulated journal cannot refer to files outside the directory.
    package static func isValid(_ name: String) -> Bool {
        (1...80).contains(name.utf8.count) && !name.hasPrefix(".") && name.isPlain(marks: "._-")
    }
}
