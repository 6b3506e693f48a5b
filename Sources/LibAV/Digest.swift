import CLibAV

/// Message digests, whole: of bytes that are there at once. For those that come piece by piece see ``SHA256Stream``.
///
/// They never fail: a message of any length has a digest, the empty one, too.
package enum Digest {
    fileprivate static let sha256Size = 32
    private static let md5Size = 16
    private static let sha1Size = 20

    /// Spec: FIPS 180-4 §6.2.
    ///
    /// - Returns: 32 bytes.
    package static func sha256(of message: [UInt8]) -> [UInt8] {
        var stream = SHA256Stream()
        stream.update(message)
        return stream.finish()
    }

    /// Not for anything new, since two messages with one MD5 are easily made: for what others have laid down.
    ///
    /// Spec: RFC 1321.
    ///
    /// - Returns: 16 bytes.
    package static func md5(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.md5Size)
        // As many bytes are written as an MD5 has, and the state lies on the stack.
        unsafe av_md5_sum(&digest, message, message.count)
        return digest
    }

    /// Not for anything new, as ``md5(of:)``: for what others have laid down.
    ///
    /// Spec: FIPS 180-4 §6.1.
    ///
    /// - Returns: 20 bytes.
    package static func sha1(of message: [UInt8]) -> [UInt8] {
        // A hundred bytes. Where they are not to be had, neither is the array of the digest.
        guard let context = unsafe av_sha_alloc() else { fatalError("out of memory for a digest") }
        // Refuses lengths of digests that it does not know, of which 160 is none.
        _ = unsafe av_sha_init(context, 160)
        unsafe av_sha_update(context, message, message.count)
        var digest = [UInt8](repeating: 0, count: Self.sha1Size)
        // Writes the 160 bits that it was begun for, which the array has room for.
        unsafe av_sha_final(context, &digest)
        unsafe av_free(UnsafeMutableRawPointer(context))
        return digest
    }
}

/// The SHA-256 of bytes that come piece by piece: of a file of any length, in the memory of one piece.
///
/// Empty at first and after every ``finish()``, so that one stream may serve one file after the other. Used by one thread at a
/// time; streams share nothing.
///
/// Spec: FIPS 180-4 §6.2.
@safe
package struct SHA256Stream: ~Copyable {
    private let context: OpaquePointer

    /// Begins empty.
    package init() {
        // A hundred bytes. Where they are not to be had, neither is the array of the digest.
        guard let context = unsafe av_sha_alloc() else { fatalError("out of memory for a digest") }
        unsafe self.context = context
        self.begin()
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(self.context)) }

    // Refuses lengths of digests that it does not know, of which 256 is none.
    private func begin() { _ = unsafe av_sha_init(self.context, 256) }

    /// The next piece; an empty one changes nothing. No allocation.
    package mutating func update(_ piece: [UInt8]) { unsafe av_sha_update(self.context, piece, piece.count) }

    /// The digest of all pieces since the stream was empty, which it is again.
    ///
    /// - Returns: 32 bytes.
    package mutating func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Digest.sha256Size)
        // Writes the 256 bits that it was begun for, which the array has room for.
        unsafe av_sha_final(self.context, &digest)
        self.begin()
        return digest
    }
}
