extension PacketMemory {
    /// Returns new memory with a copy of the payload bytes in `range`, limited to the payload.
    public func copy(of range: Range<Int>) -> PacketMemory {
        unsafe self.withBytes(in: range) { unsafe PacketMemory(copying: $0) }
    }

    /// Returns new memory with `head` followed by a copy of the payload bytes of `memory` in `range`, limited to the
    /// payload. Copies once.
    public static func joining(_ head: [UInt8], _ memory: PacketMemory, in range: Range<Int>) -> PacketMemory {
        let count = head.count + range.clamped(to: 0..<memory.count).count
        // All bytes are available, so the whole size can be reserved.
        var assembler = PacketAssembler(expecting: count, reserving: count)
        unsafe head.withUnsafeBytes { unsafe assembler.append($0) }
        unsafe memory.withBytes(in: range) { unsafe assembler.append($0) }
        return assembler.finish()
    }

    /// Returns the payload byte at `offset`; `nil` outside the payload.
    @inline(__always)
    public func byte(at offset: Int) -> UInt8? {
        guard offset >= 0, offset < self.count else { return nil }
        return unsafe self.withBytes { unsafe $0[offset] }
    }

    /// Returns the four payload bytes at `offset` as a big-endian number; `nil` if the payload ends before.
    package func unsigned32(at offset: Int) -> UInt32? {
        guard let a = self.byte(at: offset), let b = self.byte(at: offset + 1), let c = self.byte(at: offset + 2),
            let d = self.byte(at: offset + 3)
        else { return nil }
        return UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }

    /// Returns the payload bytes in `range`, limited to the payload, as an array.
    public func bytes(in range: Range<Int>) -> [UInt8] { unsafe self.withBytes(in: range) { unsafe [UInt8]($0) } }

    /// Appends the payload bytes in `range`, limited to the payload, to `array`.
    public func append(_ range: Range<Int>, to array: inout [UInt8]) {
        unsafe self.withBytes(in: range) { unsafe array.append(contentsOf: $0) }
    }
}
