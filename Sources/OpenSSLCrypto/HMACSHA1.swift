internal import COpenSSL

/// HMAC-SHA1, for protocols that require it, such as STUN. Compare codes with `ConstantTime.isEqual`, never with `==`.
///
/// Spec: RFC 2104, FIPS 198-1.
package enum HMACSHA1 {
    /// Size of a code, in bytes.
    package static let size = 20

    /// A context without a key, which is copied for each code, since looking up an algorithm by name takes several times
    /// as long as the code of a short message.
    @safe
    private final class Template: @unchecked Sendable {
        // @unchecked Sendable: the context is not changed after `init`. Copying reads it and counts references atomically.
        let context: OpaquePointer?

        init() { unsafe self.context = copenssl_make_hmac_sha1() }

        deinit { unsafe EVP_MAC_CTX_free(self.context) }
    }

    private static let template = Template()

    /// The code of a message. May be called on any thread.
    ///
    /// - Parameter key: Any length; a key longer than 64 bytes is replaced by its digest (RFC 2104 §2).
    /// - Returns: 20 bytes.
    package static func digest(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Self.size)
        var written = 0
        // An empty array may have a null pointer, with which OpenSSL would keep the context's key.
        let given = key.isEmpty ? [0] : key
        let context = unsafe EVP_MAC_CTX_dup(Self.template.context)
        defer { unsafe EVP_MAC_CTX_free(context) }
        // Lengths are those of the arrays; the code has room for 20 bytes.
        let isDone =
            unsafe context != nil && EVP_MAC_init(context, given, key.count, nil) == 1
            && EVP_MAC_update(context, message, message.count) == 1
            && EVP_MAC_final(context, &code, &written, Self.size) == 1
        // OpenSSL fails here only without memory, whatever the key and the message are. The process then ends, like Swift
        // itself without memory: a code of zeros could be taken for a right one.
        guard isDone, written == Self.size else { fatalError("out of memory for an authentication code") }
        return code
    }
}
