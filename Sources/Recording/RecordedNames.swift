import MediaTypes

/// Names of files in a recording's directory.
package enum RecordedNames {
    /// The manifest of a recording session: ``FinishedRecording/json``, written last.
    package static let manifest = "recording.json"
    /// The usual name of the directory of clips, in the directory of another output.
    package static let clips = "clips"
    /// End of the name of a movie that is being written.
    package static let partialMark = ".partial"

    private static let sessionPrefix = "take-"

    /// File name of a rendition's movie.
    static func movie(_ rendition: String) -> String { "\(rendition).mp4" }

    /// Directory of a recording session after the first.
    static func take(_ number: Int) -> String { "\(self.sessionPrefix)\(number)" }

    /// Whether a directory's name is that of a recording session after the first.
    package static func isSession(_ name: String) -> Bool {
        guard name.hasPrefix(self.sessionPrefix), let number = Int(name.dropFirst(self.sessionPrefix.count)) else {
            return false
        }
        return number >= 2 && name == self.take(number)
    }

    static func playlist(_ track: String) -> String { "\(track).m3u8" }

    /// As in the live multivariant playlist, which the recording keeps.
    static func iFramePlaylist(_ track: String) -> String { "\(track)-iframes.m3u8" }

    /// Whether a name is a plain file name, so that a foreign journal cannot name a path outside the directory.
    package static func isValid(_ name: String) -> Bool {
        (1...80).contains(name.utf8.count) && !name.hasPrefix(".") && name.isPlain(marks: "._-")
    }
}
