internal import CLibAV
package import MediaKernels

/// AES-128 in CBC mode with PKCS7 padding, as HLS encrypts whole segments.
///
/// Spec: FIPS 197; NIST SP 800-38A §6.2; RFC 5652 §6.3; rfc8216bis §5.2.
package enum BlockCipher {
    /// Size of a block, of a key and of an initialization vector, in bytes.
    package static let blockSize = 16

    /// Returns the number of bytes that `count` bytes have after encryption, with padding.
    package static func size(ofClear count: Int) -> Int { (count / Self.blockSize + 1) * Self.blockSize }

    /// Encrypts the concatenation of all pieces as one message.
    ///
    /// - Parameters:
    ///   - key: 16 bytes; the same for `vector`.
    /// - Returns: `nil` if the key or vector has another size, or if there is no memory.
    package static func sealed(_ pieces: [PacketMemory], key: [UInt8], vector: [UInt8]) -> PacketMemory? {
        let count = pieces.reduce(0) { $0 + $1.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size(ofClear: count))
        for piece in pieces { unsafe piece.withBytes { unsafe bytes.append(contentsOf: $0) } }
        let padding = Self.blockSize - count % Self.blockSize
        bytes.append(contentsOf: repeatElement(UInt8(padding), count: padding))
        return Self.run(&bytes, key, vector, decrypts: false) ? PacketMemory(bytes) : nil
    }

    /// Decrypts one message.
    ///
    /// - Returns: `nil` if there are no bytes or not whole blocks, if the key or vector has another size than 16 bytes, if
    ///   there is no memory, or if the padding is invalid, because the bytes are not a whole message or were encrypted with
    ///   another key.
    package static func opened(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.blockSize) else { return nil }
        var clear = bytes
        guard Self.run(&clear, key, vector, decrypts: true), let last = clear.last,
            (1...UInt8(Self.blockSize)).contains(last), clear.suffix(Int(last)).allSatisfy({ $0 == last })
        else { return nil }
        clear.removeLast(Int(last))
        return clear
    }

    /// Decrypts blocks from the middle of a message.
    ///
    /// - Parameter vector: The preceding block. Spec: rfc8216bis §6.3.6.
    /// - Returns: The same number of bytes, including padding; `nil` if there are no bytes or not whole blocks, if the key
    ///   or vector has another size than 16 bytes, or if there is no memory.
    package static func openedBlocks(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.blockSize) else { return nil }
        var clear = bytes
        return Self.run(&clear, key, vector, decrypts: true) ? clear : nil
    }

    private static func run(_ bytes: inout [UInt8], _ key: [UInt8], _ vector: [UInt8], decrypts: Bool) -> Bool {
        guard key.count == Self.blockSize, vector.count == Self.blockSize, let context = unsafe av_aes_alloc() else {
            return false
        }
        defer { unsafe av_free(UnsafeMutableRawPointer(context)) }
        guard unsafe av_aes_init(context, key, Int32(Self.blockSize * 8), decrypts ? 1 : 0) == 0 else { return false }
        var chain = vector
        let blocks = Int32(clamping: bytes.count / Self.blockSize)
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            // In place, as libavutil/aes.h allows; the buffer has `blocks` whole blocks, and the chain 16 bytes.
            unsafe av_aes_crypt(context, buffer.baseAddress, buffer.baseAddress, blocks, &chain, decrypts ? 1 : 0)
        }
        return true
    }
}
