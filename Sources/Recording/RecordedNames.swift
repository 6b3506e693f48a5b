import MediaTypes

/// Names of the files in a recording's directory.
enum RecordedNames {
    static let manifest = "recording.json"

    /// Returns the file name of a rendition's MP4 file.
    static func movie(_ rendition: String) -> String { "\(rendition).mp4" }

    /// Returns the directory name of a recording session after the first.
    static func take(_ number: Int) -> String { "take-\(number)" }

    static func playlist(_ track: String) -> String { "\(track).m3u8" }

    /// Returns the file name of an I-frame playlist, the same as in the live multivariant playlist, which the recording
    /// uses unchanged.
    static func iFramePlaylist(_ track: String) -> String { "\(track)-iframes.m3u8" }

    /// Whether a name is a file name without a path, so that a manipulated journal cannot refer to files outside the
    /// directory.
    static func isValid(_ name: String) -> Bool {
        (1...80).contains(name.utf8.count) && !name.hasPrefix(".") && name.isPlain(marks: "._-")
    }
}
