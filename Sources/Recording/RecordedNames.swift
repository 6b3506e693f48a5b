import MediaTypes

/// Names of files in a recording's directory.
enum RecordedNames {
    static let manifest = "recording.json"

    /// File name of a rendition's movie.
    static func movie(_ rendition: String) -> String { "\(rendition).mp4" }

    /// Directory of a recording session after the first.
    static func take(_ number: Int) -> String { "take-\(number)" }

    static func playlist(_ track: String) -> String { "\(track).m3u8" }

    /// As in the live multivariant playlist, which the recording keeps.
    static func iFramePlaylist(_ track: String) -> String { "\(track)-iframes.m3u8" }

    /// Whether a name is a plain file name, so that a foreign journal cannot name a path outside the directory.
    static func isValid(_ name: String) -> Bool {
        (1...80).contains(name.utf8.count) && !name.hasPrefix(".") && name.isPlain(marks: "._-")
    }
}
