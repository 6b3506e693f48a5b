import CLibAV

/// Message authentication codes (HMAC). Compare them with `ConstantTime.isEqual`, never with `==`.
///
/// The functions never fail, so that a missing code cannot be mistaken for a correct one: every message and every key
/// has a code, whether empty or longer than a block of the digest. Do not call them with an empty key: anybody can
/// compute its code.
///
/// Spec: RFC 2104, FIPS 198-1.
package enum MessageAuthentication {
    /// HMAC-SHA256.
    ///
    /// - Parameter key: Any length; a key longer than 64 bytes is replaced by its digest (RFC 2104 §2).
    /// - Returns: 32 bytes.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        Self.code(AV_HMAC_SHA256, size: 32, key, message)
    }

    /// HMAC-SHA1; only for protocols that require it.
    ///
    /// - Parameter key: See ``hmacSHA256(key:message:)``.
    /// - Returns: 20 bytes.
    package static func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        Self.code(AV_HMAC_SHA1, size: 20, key, message)
    }

    /// Maximum number of bytes per call; libavutil counts them in 32 bits.
    private static let longestPiece = 1 << 20

    private static func code(_ type: AVHMACType, size: Int, _ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        // Some hundred bytes. If they are not available, neither is the array for the code.
        guard let context = unsafe av_hmac_alloc(type) else { fatalError("out of memory for an authentication code") }
        defer { unsafe av_hmac_free(context) }
        // No key comes near 4 GiB: keys are values in the pipeline, or files that it names.
        unsafe av_hmac_init(context, key, UInt32(clamping: key.count))
        for start in stride(from: 0, to: message.count, by: Self.longestPiece) {
            let piece = message[start..<min(start + Self.longestPiece, message.count)]
            unsafe piece.withUnsafeBufferPointer { bytes in
                unsafe av_hmac_update(context, bytes.baseAddress, UInt32(bytes.count))
            }
        }
        var code = [UInt8](repeating: 0, count: size)
        // Fails only if the buffer is too small for the whole code.
        _ = unsafe av_hmac_final(context, &code, UInt32(size))
        return code
    }
}
