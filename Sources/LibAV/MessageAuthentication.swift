import CLibAV

/// Codes that only who knows the key can make for a message. To be compared by `ConstantTime.isEqual`, never by `==`.
///
/// They never fail, so that a code that is missing cannot be taken for one that is right: any message and any key has one, be
/// it empty or longer than a block of the digest. Who has no key must not ask: the code of an empty one anybody can make.
///
/// Spec: RFC 2104, FIPS 198-1.
package enum MessageAuthentication {
    /// - Parameter key: Any length; of one longer than 64 bytes its digest counts (RFC 2104 §2).
    /// - Returns: 32 bytes.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        Self.code(AV_HMAC_SHA256, size: 32, key, message)
    }

    /// For what others have laid down.
    ///
    /// - Parameter key: As that of ``hmacSHA256(key:message:)``.
    /// - Returns: 20 bytes.
    package static func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
        Self.code(AV_HMAC_SHA1, size: 20, key, message)
    }

    /// Bytes that are handed over at once: libavutil counts them in 32 bits.
    private static let longestPiece = 1 << 20

    private static func code(_ type: AVHMACType, size: Int, _ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        // Some hundred bytes. Where they are not to be had, neither is the array of the code.
        guard let context = unsafe av_hmac_alloc(type) else { fatalError("out of memory for an authentication code") }
        defer { unsafe av_hmac_free(context) }
        // No key comes near 4 GiB: they are values of the pipeline, or files that it names.
        unsafe av_hmac_init(context, key, UInt32(clamping: key.count))
        for start in stride(from: 0, to: message.count, by: Self.longestPiece) {
            let piece = message[start..<min(start + Self.longestPiece, message.count)]
            unsafe piece.withUnsafeBufferPointer { bytes in
                unsafe av_hmac_update(context, bytes.baseAddress, UInt32(bytes.count))
            }
        }
        var code = [UInt8](repeating: 0, count: size)
        // Refuses room for less than the whole code alone.
        _ = unsafe av_hmac_final(context, &code, UInt32(size))
        return code
    }
}
