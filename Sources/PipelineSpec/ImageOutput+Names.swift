package import MediaTypes

/// File names of stills.
extension ImageOutput {
    /// Name of the program's still in its directory.
    package var fileName: String { self.path.split(separator: "/").last.map(String.init) ?? self.path }

    /// Directory of the stills, with a slash at its end; `.` for the working directory.
    package var directory: String {
        self.path.contains("/") ? String(self.path.dropLast(self.fileName.count)) : "."
    }

    /// Maximum length of a uid in a file name, in bytes; together with the rest of the name and the suffix of the temporary file,
    /// it stays below the limit of 255.
    private static let longestWord = 160

    /// Path of a source's still: in the directory of the program's still, as `name-uid.jpg` or `name-uid-sub.jpg`.
    ///
    /// Letters, digits, `_` and `-` of the uid are kept; every other byte is written as a dot and two hexadecimal digits. A `-`
    /// is written that way too if the name would otherwise equal that of another user's `sub` stream or of a sprite sheet. A uid
    /// that is too long is cut and ends in its digest. No two sources have the same name.
    package func stillPath(of source: SourceID) -> String {
        var word = ""
        for byte in source.uid.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: word.unicodeScalars.append(Unicode.Scalar(byte))
            default: word += Self.code(byte)
            }
        }
        let type = source.streamType == .main ? "" : "-\(source.streamType.rawValue)"
        if type.isEmpty, self.isTaken(word), let dash = word.lastIndex(of: "-") {
            word.replaceSubrange(dash...dash, with: Self.code(0x2d))
        }
        if word.utf8.count > Self.longestWord {
            let digest = Self.digest(source.uid)
            // An encoded uid contains two dots in a row only here.
            word = "\(word.prefix(Self.longestWord - digest.utf8.count - 2))..\(digest)"
        }
        return "\(self.path.dropLast(4))-\(word)\(type).jpg"
    }

    /// Whether the name is that of a `sub` stream or of a sprite sheet (two numbers).
    private func isTaken(_ word: String) -> Bool {
        if word.hasSuffix("-\(SourceID.StreamType.sub.rawValue)") { return true }
        guard self.sprites != nil else { return false }
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy { part in !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }

    private static func code(_ byte: UInt8) -> String { "." + self.hexadecimal(UInt64(byte), digits: 2) }

    /// FNV-1a, 64 bits, as sixteen hexadecimal digits.
    private static func digest(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return self.hexadecimal(hash, digits: 16)
    }

    private static func hexadecimal(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
