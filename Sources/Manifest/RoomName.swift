import MediaTypes

/// A room's id in the forms that orchestrators require for names: RFC 1123 labels, and values of Kubernetes labels.
package struct RoomName: Sendable, Hashable {
    package let roomID: String

    package init(_ roomID: String) { self.roomID = roomID }

    /// The name of the room's objects: `tandem-` and the id in lower case letters, digits and hyphens, at most 53
    /// characters, so that suffixes fit.
    ///
    /// If the id had to be changed for that, a 32-bit hash is appended in hexadecimal digits, so that two rooms hardly
    /// ever share a name.
    package var label: String {
        let plain = String(
            self.roomID.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "-" ? $0 : "-" })
        let isSame = plain == self.roomID && !plain.hasPrefix("-") && !plain.hasSuffix("-") && plain.count <= 46
        guard !isSame, !self.roomID.isEmpty else { return "tandem-\(plain)" }
        let cut = plain.prefix(36).drop { $0 == "-" }
        return "tandem-\(cut)\(cut.hasSuffix("-") || cut.isEmpty ? "" : "-")\(self.digest)"
    }

    /// The value of a Kubernetes label: the id if it is a valid label value (at most 63 characters, beginning and
    /// ending with a letter or digit), otherwise ``label``.
    package var value: String {
        let isEdge: (Character?) -> Bool = { $0.map { $0.isLetter || $0.isNumber } ?? false }
        return self.roomID.count <= 63 && isEdge(self.roomID.first) && isEdge(self.roomID.last)
            ? self.roomID : self.label
    }

    /// 32-bit FNV-1a hash of the room's id as eight hexadecimal digits.
    private var digest: String {
        let hash = self.roomID.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return hash.padded(8, radix: 16)
    }
}
