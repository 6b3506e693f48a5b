/// The digest of a certificate, as the attribute `fingerprint` of a session description gives it.
///
/// Spec: RFC 8122 §5.
package struct DTLSFingerprint: Sendable, Hashable {
    /// Name of the hash function in lower case, such as `sha-256`.
    package let algorithm: String
    /// The digest; 32 bytes for `sha-256`.
    package let bytes: [UInt8]

    /// - Parameter algorithm: Any case.
    package init(algorithm: String, bytes: [UInt8]) {
        self.algorithm = algorithm.lowercased()
        self.bytes = bytes
    }

    /// Sizes in bytes of the digests that are accepted. Of SHA-1 and older functions, collisions can be made.
    private static let sizes = ["sha-256": 32, "sha-384": 48, "sha-512": 64]

    /// Whether the hash function is accepted (`sha-256`, `sha-384`, `sha-512`) and the digest has its size.
    package var isUsable: Bool { Self.sizes[self.algorithm] == self.bytes.count }
}
