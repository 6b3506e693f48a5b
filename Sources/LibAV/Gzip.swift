import CLibAV

/// Compresses bytes with zlib, which libavcodec needs and every machine with FFmpeg has.
///
/// Spec: RFC 1952 (gzip), RFC 1951 (deflate).
package enum Gzip {
    /// zlib's largest window, 32 KiB, plus the 16 that asks for a gzip header instead of zlib's own.
    private static let windowBits: Int32 = 15 + 16
    /// zlib's default, 256 KiB of working memory while a text is compressed.
    private static let memoryLevel: Int32 = 8

    /// Compresses `input` as one gzip member.
    ///
    /// - Parameter input: Any bytes; less than 4 GiB, since zlib counts them in 32 bits.
    package static func encode(_ input: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()
        // Only memory can be missing: the other arguments are constants that zlib knows.
        guard
            unsafe deflateInit2_(
                &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Self.windowBits, Self.memoryLevel, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { fatalError("out of memory for compression") }
        defer { _ = unsafe deflateEnd(&stream) }
        // One call is enough: the output has room for the worst case.
        let capacity = unsafe Int(clamping: deflateBound(&stream, UInt(input.count)))
        return unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            unsafe input.withUnsafeBufferPointer { input in
                // zlib does not write through `next_in`; its type only lacks the const.
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = UInt32(clamping: input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(clamping: capacity)
                _ = unsafe deflate(&stream, Z_FINISH)
            }
            count = unsafe Int(clamping: stream.total_out)
        }
    }
}
