internal import COpenSSL

/// HMAC-SHA1, for protocols that require it, such as STUN. Compare codes with `ConstantTime.isEqual`, never with `==`.
///
/// Spec: RFC 2104, FIPS 198-1.
package enum HMACSHA1 {
    /// Size of a code, in bytes.
    package static let size = 20

    /// The code of a message. May be called on any thread.
    ///
    /// - Parameter key: Any length; a key longer than 64 bytes is replaced by its digest (RFC 2104 §2).
    /// - Returns: 20 bytes.
    package static func digest(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Self.size)
        var written = 0
        // A null pointer would mean no key at all, and an array that is empty may have one.
        let given = key.isEmpty ? [0] : key
        let isDone = unsafe EVP_Q_mac(
            nil, "HMAC", nil, "SHA1", nil, given, key.count, message, message.count, &code, Self.size, &written)
        // A code of zeros could be taken for a right one.
        guard unsafe isDone != nil, written == Self.size else { fatalError("out of memory for an authentication code") }
        return code
    }
}
