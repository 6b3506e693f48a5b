import MediaTypes

/// User name fragment and password of one side of an ICE session.
///
/// Spec: RFC 8445 §5.3, RFC 8839 §5.4.
package struct ICECredentials: Sendable, Hashable {
    /// 4 to 256 letters, digits, `+` and `/`.
    package var ufrag: String
    /// 22 to 256 letters, digits, `+` and `/`. Secret.
    package var password: String

    /// Number of random bytes that ``init(random:)`` needs.
    package static let randomBytes = 24

    package init(ufrag: String, password: String) {
        self.ufrag = ufrag
        self.password = password
    }

    /// Makes credentials of 8 and 24 characters: 48 bits that find the session and 144 secret ones.
    ///
    /// - Parameter random: At least ``randomBytes`` bytes of a cryptographic generator.
    /// - Returns: nil for fewer bytes.
    package init?(random: [UInt8]) {
        guard random.count >= ICECredentials.randomBytes else { return nil }
        self.init(ufrag: ICECredentials.characters(random[0..<6]), password: ICECredentials.characters(random[6..<24]))
    }

    /// The characters of RFC 8839 §5.4, `ice-char`: the alphabet of base64 (RFC 4648 §4).
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Four characters for three bytes; the number of bytes is a multiple of 3.
    private static func characters(_ bytes: ArraySlice<UInt8>) -> String {
        var (text, pending, bits): ([UInt8], UInt32, UInt32) = ([], 0, 0)
        for byte in bytes {
            pending = (pending << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(self.alphabet[Int(pending >> bits & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a user name fragment of a peer is well formed.
    package static func isUfrag(_ text: some StringProtocol) -> Bool {
        (4...256).contains(text.utf8.count) && text.isPlain(marks: "+/")
    }

    /// Whether a password of a peer is well formed.
    package static func isPassword(_ text: some StringProtocol) -> Bool {
        (22...256).contains(text.utf8.count) && text.isPlain(marks: "+/")
    }
}
