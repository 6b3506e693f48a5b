package import MediaTypes

/// File names of still images.
extension ImageOutput {
    /// Name of the program's still in its directory.
    package var fileName: String { self.path.split(separator: "/").last.map(String.init) ?? self.path }

    /// Directory of the still images, with a slash at its end; `.` for the working directory.
    package var directory: String {
        self.path.contains("/") ? String(self.path.dropLast(self.fileName.count)) : "."
    }

    /// Returns the path of a source's still image: in the directory of the program's still, as `name-uid.jpg` or
    /// `name-uid-sub.jpg`.
    ///
    /// Letters, digits, `_` and `-` of the uid are kept; every other byte is written as a dot and two hexadecimal
    /// digits. The last `-` is written that way too if the name could otherwise be that of another user's `sub` stream
    /// or of a sprite sheet. A uid that is too long is cut and ends in its digest.
    package func stillPath(of source: SourceID) -> String {
        let name = source.fileWord { self.isTaken($0) }
        return "\(self.path.dropLast(4))-\(name).jpg"
    }

    /// Whether a name could also be that of a `sub` stream or of a sprite sheet (two numbers).
    private func isTaken(_ word: String) -> Bool {
        if word.hasSuffix("-\(SourceID.StreamType.sub.rawValue)") { return true }
        guard self.sprites != nil else { return false }
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy(\.isDigits)
    }
}
