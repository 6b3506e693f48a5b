import CLibAV

/// Message digests of complete data. For data that arrives in pieces, see ``SHA256Stream``.
///
/// They never fail: a message of any length has a digest, even an empty one.
package enum Digest {
    fileprivate static let sha256Size = 32
    private static let md5Size = 16
    private static let sha1Size = 20

    /// SHA-256.
    ///
    /// Spec: FIPS 180-4 §6.2.
    ///
    /// - Returns: 32 bytes.
    package static func sha256(of message: [UInt8]) -> [UInt8] {
        var stream = SHA256Stream()
        stream.update(message)
        return stream.finish()
    }

    /// MD5. Not for new uses, because collisions are easy to make; only for protocols that require it.
    ///
    /// Spec: RFC 1321.
    ///
    /// - Returns: 16 bytes.
    package static func md5(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.md5Size)
        // Writes as many bytes as an MD5 has; the state is on the stack.
        unsafe av_md5_sum(&digest, message, message.count)
        return digest
    }

    /// SHA-1. Not for new uses, as ``md5(of:)``; only for protocols that require it.
    ///
    /// Spec: FIPS 180-4 §6.1.
    ///
    /// - Returns: 20 bytes.
    package static func sha1(of message: [UInt8]) -> [UInt8] {
        // A hundred bytes. If they are not available, neither is the array for the digest.
        guard let context = unsafe av_sha_alloc() else { fatalError("out of memory for a digest") }
        // Fails only for unsupported digest lengths; 160 is supported.
        _ = unsafe av_sha_init(context, 160)
        unsafe av_sha_update(context, message, message.count)
        var digest = [UInt8](repeating: 0, count: Self.sha1Size)
        // Writes 160 bits, as set above; the array has room for them.
        unsafe av_sha_final(context, &digest)
        unsafe av_free(UnsafeMutableRawPointer(context))
        return digest
    }
}

/// SHA-256 of data that arrives in pieces: a file of any length, with the memory of one piece.
///
/// The stream is empty at first and after every ``finish()``, so that it can be reused for several files. Used by one
/// thread at a time; streams share no state.
///
/// Spec: FIPS 180-4 §6.2.
@safe
package struct SHA256Stream: ~Copyable {
    private let context: OpaquePointer

    /// Creates an empty stream.
    package init() {
        // A hundred bytes. If they are not available, neither is the array for the digest.
        guard let context = unsafe av_sha_alloc() else { fatalError("out of memory for a digest") }
        unsafe self.context = context
        self.begin()
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(self.context)) }

    // Fails only for unsupported digest lengths; 256 is supported.
    private func begin() { _ = unsafe av_sha_init(self.context, 256) }

    /// Adds the next piece; an empty one changes nothing. Does not allocate.
    package mutating func update(_ piece: [UInt8]) { unsafe av_sha_update(self.context, piece, piece.count) }

    /// Returns the digest of all pieces since the stream was empty, and empties it.
    ///
    /// - Returns: 32 bytes.
    package mutating func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Digest.sha256Size)
        // Writes 256 bits, as set in `begin()`; the array has room for them.
        unsafe av_sha_final(self.context, &digest)
        self.begin()
        return digest
    }
}
