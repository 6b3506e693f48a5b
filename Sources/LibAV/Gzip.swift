import CLibAV

/// Compresses bytes with zlib, which libavcodec requires, so that every machine with FFmpeg has it.
///
/// Spec: RFC 1952 (gzip), RFC 1951 (deflate).
package enum Gzip {
    /// zlib's largest window (32 KiB) as an exponent, plus 16 to request a gzip header instead of zlib's own.
    private static let windowBits: Int32 = 15 + 16
    /// zlib's default: 256 KiB of working memory during compression.
    private static let memoryLevel: Int32 = 8

    /// Compresses `input` as one gzip member.
    ///
    /// - Parameter input: Any bytes; less than 4 GiB, because zlib counts them in 32 bits.
    package static func encode(_ input: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()
        guard
            unsafe deflateInit2_(
                &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Self.windowBits, Self.memoryLevel, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else {
            // There is no memory for zlib's window; return the data uncompressed.
            return self.stored(input)
        }
        defer { _ = unsafe deflateEnd(&stream) }
        var isWhole = false
        // One call is enough: the output has room for the worst case.
        let capacity = unsafe Int(clamping: deflateBound(&stream, UInt(input.count)))
        let output = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            unsafe input.withUnsafeBufferPointer { input in
                // zlib does not write through `next_in`; its type only lacks the const.
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = UInt32(clamping: input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(clamping: capacity)
                isWhole = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
            count = unsafe Int(clamping: stream.total_out)
        }
        return isWhole ? output : self.stored(input)
    }

    /// Wraps `input` as one gzip member without compression, which needs no memory except for the result.
    ///
    /// Spec: RFC 1951 §3.2.4 (blocks without compression).
    package static func stored(_ input: [UInt8]) -> [UInt8] {
        var output: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        output.reserveCapacity(input.count + input.count / 0xffff * 5 + 32)
        var rest = input[...]
        repeat {
            let block = rest.prefix(0xffff)
            rest = rest.dropFirst(block.count)
            let length = UInt16(truncatingIfNeeded: block.count)
            output.append(rest.isEmpty ? 1 : 0)
            for value in [length, ~length] { output += [UInt8(value & 0xff), UInt8(value >> 8)] }
            output += block
        } while !rest.isEmpty
        let sum = unsafe input.withUnsafeBufferPointer { input in
            unsafe crc32(0, input.baseAddress, UInt32(clamping: input.count))
        }
        for value in [UInt32(truncatingIfNeeded: sum), UInt32(truncatingIfNeeded: input.count)] {
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                output.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
        return output
    }
}
