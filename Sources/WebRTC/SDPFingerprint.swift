import MediaTypes

/// The digest of a certificate in a session description.
///
/// Spec: RFC 8122 §5.
package struct SDPFingerprint: Sendable, Hashable {
    /// Name of the hash function in lower case, such as `sha-256`.
    package var algorithm: String
    package var bytes: [UInt8]

    package init(algorithm: String, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// The algorithms that are strong enough, and the sizes of their digests in bytes.
    private static let sizes = ["sha-256": 32, "sha-384": 48, "sha-512": 64]

    /// Whether the algorithm is accepted and the digest has its size. SHA-1 and MD5 are not accepted (RFC 8122 §5).
    package var isAccepted: Bool { SDPFingerprint.sizes[self.algorithm] == self.bytes.count }

    /// Parses the value of an attribute: `sha-256 5E:9D:…`.
    ///
    /// - Returns: nil if it is malformed, or if the digest of an accepted algorithm has another size.
    package init?(_ value: Substring) {
        let words = value.split(separator: " ")
        guard words.count == 2 else { return nil }
        let algorithm = words[0].lowercased()
        var bytes: [UInt8] = []
        for pair in words[1].utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
            guard pair.count == 2, let high = pair.first?.hexadecimalValue, let low = pair.last?.hexadecimalValue,
                bytes.count < 64
            else { return nil }
            bytes.append(high << 4 | low)
        }
        if let size = SDPFingerprint.sizes[algorithm], size != bytes.count { return nil }
        self.init(algorithm: algorithm, bytes: bytes)
    }

    /// The value of an attribute: digits in upper case, as RFC 8122 requires.
    package var text: String {
        let pairs = self.bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "\(self.algorithm) \(pairs.joined(separator: ":"))"
    }
}
