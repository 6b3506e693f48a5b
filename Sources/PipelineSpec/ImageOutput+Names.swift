package import MediaTypes

/// What the stills are called.
extension ImageOutput {
    /// Name of the program's still in its directory.
    package var fileName: String { self.path.split(separator: "/").last.map(String.init) ?? self.path }

    /// Directory of the stills, with a slash at its end; `.` for the working directory.
    package var directory: String {
        self.path.contains("/") ? String(self.path.dropLast(self.fileName.count)) : "."
    }

    /// Bytes of a uid in a file's name, which with the rest of it and that of its temporary file stays below 255.
    private static let longestWord = 160

    /// Where a source's still is written: beside that of the program, as `name-uid.jpg` or `name-uid-sub.jpg`.
    ///
    /// Letters, digits, `_` and `-` of a uid stay; what else it has becomes a dot and two hexadecimal digits. So does a `-` that
    /// would make it the name of another user's second stream or of a sheet of stills, and a uid that is too long for a file's
    /// name ends in a digest of it: no two sources have one name.
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
            // No uid has two dots in a row otherwise.
            word = "\(word.prefix(Self.longestWord - digest.utf8.count - 2))..\(digest)"
        }
        return "\(self.path.dropLast(4))-\(word)\(type).jpg"
    }

    /// It would be a second stream's, or a sheet's: two numbers.
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
