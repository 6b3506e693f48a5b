package import MediaTypes

/// File names of still images.
extension ImageOutput {
    /// Name of the program's still in its directory.
    package var fileName: String { self.path.split(separator: "/").last.map(String.init) ?? self.path }

    /// Directory of the still images, with a slash at its end; `.` for the working directory.
    package var directory: String {
        self.path.contains("/") ? String(self.path.dropLast(self.fileName.count)) : "."
    }

    /// Maximum length of a uid in a file name, in bytes. Together with the rest of the name and the suffix of the
    /// temporary file, the name stays below the file systems' limit of 255 bytes.
    private static let longestWord = 160

    /// Returns the path of a source's still image: in the directory of the program's still, as `name-uid.jpg` or
    /// `name-uid-sub.jpg`.
    ///
    /// Letters, digits, `_` and `-` of the uid are kept; every other byte is written as a dot and two hexadecimal
    /// digits. The last `-` is written that way too if the name could otherwise be that of another user's `sub` stream
    /// or of a sprite sheet. A uid that is too long is cut and ends in its digest. Two sources have the same path only
    /// if they have the same digest.
    package func stillPath(of source: SourceID) -> String {
        var word = ""
        for byte in source.uid.utf8 {
            let isKept = byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            word += isKept ? String(Unicode.Scalar(byte)) : Self.code(byte)
        }
        let type = source.streamType == .main ? "" : "-\(source.streamType.rawValue)"
        if type.isEmpty, self.isTaken(word), let dash = word.lastIndex(of: "-") {
            word.replaceSubrange(dash...dash, with: Self.code(0x2d))
        }
        if word.utf8.count > Self.longestWord {
            let digest = FNV1a.hash(Array(source.uid.utf8)).padded(16, radix: 16)
            // An encoded uid contains two dots in a row only here.
            word = "\(word.prefix(Self.longestWord - digest.utf8.count - 2))..\(digest)"
        }
        return "\(self.path.dropLast(4))-\(word)\(type).jpg"
    }

    /// Whether a name could also be that of a `sub` stream or of a sprite sheet (two numbers).
    private func isTaken(_ word: String) -> Bool {
        if word.hasSuffix("-\(SourceID.StreamType.sub.rawValue)") { return true }
        guard self.sprites != nil else { return false }
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy(\.isDigits)
    }

    private static func code(_ byte: UInt8) -> String { ".\(byte.padded(2, radix: 16))" }
}
