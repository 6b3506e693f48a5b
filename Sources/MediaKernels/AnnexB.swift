/// The byte stream format of H.264, with start codes between NAL units.
///
/// Spec: ISO/IEC 14496-10 Annex B.
@safe
public enum AnnexB {
    /// Returns the offset of the first start code `00 00 01` at or after `start`; `bytes.count` if there is none.
    ///
    /// Checks eight bytes per step: a start code needs two adjacent zero bytes, which are rare in coded data.
    public static func startCode(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let count = bytes.count
        guard count >= 3, start >= 0, let base = bytes.baseAddress else { return count }
        let lastWord = count &- 8
        // The last offset at which three bytes remain.
        let lastCode = count &- 3
        var offset = start
        while true {
            while offset <= lastWord {
                // Checked: `offset + 8 <= count`.
                let word = unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                // Byte k of `pairs` is zero if bytes k and k + 1 of the input both are; the topmost byte, if the last
                // byte is.
                let pairs = word | (word &>> 8)
                if (pairs &- 0x0101_0101_0101_0101) & ~pairs & 0x8080_8080_8080_8080 != 0 { break }
                offset &+= 8
            }
            let end = min(offset &+ 7, lastCode)
            while offset <= end {
                // Checked: `offset <= lastCode`, so three bytes are there.
                if unsafe bytes[offset] == 0 && bytes[offset &+ 1] == 0 && bytes[offset &+ 2] == 1 { return offset }
                offset &+= 1
            }
            if offset > lastCode { return count }
        }
    }

    /// Whether `bytes` begin with a start code of three or four bytes.
    public static func beginsWithStartCode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe self.startCodeLength(at: 0, in: bytes) > 0
    }

    /// Returns the length of the start code exactly at `offset`: 3 or 4; 0 if there is none.
    static func startCodeLength(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        guard offset >= 0, bytes.count &- offset >= 3 else { return 0 }
        guard unsafe bytes[offset] == 0 && bytes[offset &+ 1] == 0 else { return 0 }
        if unsafe bytes[offset &+ 2] == 1 { return 3 }
        guard bytes.count &- offset >= 4 else { return 0 }
        return unsafe bytes[offset &+ 2] == 0 && bytes[offset &+ 3] == 1 ? 4 : 0
    }

    /// Calls `body` with the range of each NAL unit, in order; empty units are left out.
    ///
    /// Zero bytes before a start code belong to it (`zero_byte`, `trailing_zero_8bits`): a NAL unit never ends with 0.
    /// Bytes before the first start code are skipped.
    public static func walk(_ bytes: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
        var start = unsafe self.startCode(in: bytes, from: 0)
        while start < bytes.count {
            let first = start &+ 3
            let next = unsafe self.startCode(in: bytes, from: first)
            var end = next
            // Checked: `first <= end <= bytes.count`.
            while unsafe end > first && bytes[end &- 1] == 0 { end &-= 1 }
            if end > first { body(first..<end) }
            start = next
        }
    }

    /// Converts an Annex B access unit to NAL units with four-byte lengths, as used in MP4 and FLV.
    ///
    /// - Parameters:
    ///   - bytes: NAL units with start codes of three or four bytes. Empty units are dropped.
    ///   - skipped: Types to leave out, for example parameter sets, which are in the initialization segment.
    /// - Returns: The payload and the types in it. Empty if nothing remained.
    public static func lengthPrefixed(
        _ bytes: UnsafeRawBufferPointer, skipping skipped: NALTypes = []
    ) -> LengthPrefixedPayload {
        var assembler = PacketAssembler(expecting: bytes.count &+ 64)
        let types = unsafe self.gather(bytes, skipping: skipped, in: &assembler)
        return LengthPrefixedPayload(memory: assembler.finish(), types: types)
    }

    /// Converts like ``lengthPrefixed(_:skipping:)``, but reuses a packet object of `pool`.
    package static func lengthPrefixed(
        _ bytes: UnsafeRawBufferPointer, skipping skipped: NALTypes = [], in pool: inout PacketPool
    ) -> LengthPrefixedPayload {
        var assembler = PacketAssembler(expecting: bytes.count &+ 64)
        let types = unsafe self.gather(bytes, skipping: skipped, in: &assembler)
        return LengthPrefixedPayload(memory: assembler.finish(in: &pool), types: types)
    }

    /// Appends all NAL units but those to skip, and returns the types of the appended ones. The result may be larger
    /// than the input, because each three-byte start code becomes a four-byte length.
    private static func gather(
        _ bytes: UnsafeRawBufferPointer, skipping skipped: NALTypes, in assembler: inout PacketAssembler
    ) -> NALTypes {
        var types: NALTypes = []
        unsafe self.walk(bytes) { range in
            let type = unsafe NALTypes(header: bytes[range.lowerBound])
            if !type.isDisjoint(with: skipped) { return }
            types.formUnion(type)
            unsafe assembler.appendNAL(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
        return types
    }
}

extension PacketAssembler {
    /// Appends one NAL unit, preceded by its length as four bytes, big-endian.
    @inline(__always)
    mutating func appendNAL(_ unit: UnsafeRawBufferPointer) {
        let length = UInt32(truncatingIfNeeded: unit.count).bigEndian
        unsafe withUnsafeBytes(of: length) { unsafe self.append($0) }
        unsafe self.append(unit)
    }
}
