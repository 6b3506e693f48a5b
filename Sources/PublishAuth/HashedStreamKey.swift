import LibAV
import MediaTypes

/// A stream key of which only a salted hash is known; a worker stores it for its successor.
///
/// Text form: `$sha256$SALT$DIGEST`, both in lower-case hexadecimal.
package struct HashedStreamKey: Sendable, Hashable {
    private static let prefix = "$sha256$"
    private static let digestLength = 64

    private let salt: String
    private let digest: String

    /// Reads the text form of a hashed key; `nil` for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let parts = text.dropFirst(Self.prefix.count).split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].utf8.count == Self.digestLength,
            Hexadecimal.decode(String(parts[0])) != nil, Hexadecimal.decode(String(parts[1])) != nil
        else { return nil }
        (self.salt, self.digest) = (String(parts[0]), String(parts[1]))
    }

    /// Returns the hashed text form of `key` for storage. A key that is hashed already is returned unchanged.
    package static func seal(_ key: String, salt: String) -> String {
        if HashedStreamKey(key) != nil { return key }
        return "\(self.prefix)\(salt)$\(self.digest(of: key, salt: salt, bytes: self.digestLength / 2))"
    }

    /// Returns whether `key` has this hash. The comparison takes the same time whatever the result is.
    package func matches(_ key: [UInt8]) -> Bool {
        let offered = Self.digest(of: key, salt: self.salt, bytes: Self.digestLength / 2)
        return ConstantTime.isEqual(Array(self.digest.utf8), Array(offered.utf8))
    }

    /// Returns the first `bytes` bytes of the SHA-256 of salt and text, in hexadecimal.
    package static func digest(of text: String, salt: String, bytes: Int) -> String {
        self.digest(of: Array(text.utf8), salt: salt, bytes: bytes)
    }

    private static func digest(of text: [UInt8], salt: String, bytes: Int) -> String {
        Hexadecimal.text(Array(Digest.sha256(of: Array(salt.utf8) + [0] + text).prefix(bytes)))
    }
}
