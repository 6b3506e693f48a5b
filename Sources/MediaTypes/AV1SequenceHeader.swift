/// The maximum frame size in an AV1 sequence header.
///
/// Spec: AV1 Bitstream & Decoding Process §5.3, §5.5.
package struct AV1SequenceHeader: Sendable, Hashable {
    package let maxWidth: Int
    package let maxHeight: Int

    /// Reads the OBUs after the four header bytes of an `AV1CodecConfigurationRecord`; `nil` if there is no readable
    /// header.
    ///
    /// Spec: AV1 Codec ISO Media File Format Binding §2.3.
    package init?(record: [UInt8]) {
        guard record.count > 4, record[0] == 0x81 else { return nil }
        var units = AV1Units(record[4...])
        while let unit = units.next() {
            guard unit.type == AV1Units.sequenceHeader else { continue }
            self.init(payload: Array(record[unit.payload].prefix(64)))
            return
        }
        return nil
    }

    /// Reads a sequence header; `nil` if it ends early.
    ///
    /// - Parameter payload: Content of the OBU, `sequence_header_obu()`.
    package init?(payload: [UInt8]) {
        var reader = BitReader(payload)
        guard reader.bits(3) != nil, reader.flag() != nil, let isReduced = reader.flag(),
            isReduced ? reader.bits(5) != nil : Self.skipOperatingPoints(&reader),
            let widthBits = reader.bits(4), let heightBits = reader.bits(4),
            let width = reader.bits(Int(widthBits) + 1), let height = reader.bits(Int(heightBits) + 1)
        else { return nil }
        self.maxWidth = Int(width) + 1
        self.maxHeight = Int(height) + 1
    }

    private static func skipOperatingPoints(_ reader: inout BitReader) -> Bool {
        guard let hasTiming = reader.flag() else { return false }
        var delayBits: Int?
        if hasTiming {
            guard reader.bits(32) != nil, reader.bits(32) != nil, let isEqual = reader.flag() else { return false }
            if isEqual, reader.unsignedGolomb() == nil { return false }
            guard let hasModel = reader.flag() else { return false }
            if hasModel {
                guard let bits = reader.bits(5), reader.bits(32) != nil, reader.bits(10) != nil else { return false }
                delayBits = Int(bits) + 1
            }
        }
        guard let hasDelay = reader.flag(), let last = reader.bits(5) else { return false }
        for _ in 0...last {
            guard reader.bits(12) != nil, let level = reader.bits(5) else { return false }
            if level > 7, reader.flag() == nil { return false }
            if let delayBits {
                guard let isListed = reader.flag() else { return false }
                if isListed {
                    guard reader.bits(delayBits) != nil, reader.bits(delayBits) != nil, reader.flag() != nil else {
                        return false
                    }
                }
            }
            if hasDelay {
                guard let isListed = reader.flag() else { return false }
                if isListed, reader.bits(4) == nil { return false }
            }
        }
        return true
    }
}

/// Walks the open bitstream units of a temporal unit, or of a configuration record.
///
/// Spec: AV1 Bitstream & Decoding Process §5.3.1, §5.3.2 (low-overhead format).
package struct AV1Units {
    package static let sequenceHeader: UInt8 = 1
    package static let frameHeader: UInt8 = 3
    package static let frame: UInt8 = 6

    private let bytes: ArraySlice<UInt8>
    private var offset: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.offset = bytes.startIndex
    }

    /// Reads the next unit and returns its type and the range of its payload; `nil` at the end or at an error.
    package mutating func next() -> (type: UInt8, payload: Range<Int>)? {
        let bytes = self.bytes
        return Self.unit(at: &self.offset, end: bytes.endIndex) { bytes.indices.contains($0) ? bytes[$0] : nil }
    }

    /// Reads the unit at `offset`, which is advanced to the next one; for bytes that are not in an array. Does not
    /// allocate.
    ///
    /// - Parameters:
    ///   - end: End of the bytes.
    ///   - byte: Returns the byte at an offset; `nil` outside.
    /// - Returns: The unit's type and the range of its payload; `nil` at the end or at an error.
    package static func unit(
        at offset: inout Int, end: Int, _ byte: (Int) -> UInt8?
    ) -> (type: UInt8, payload: Range<Int>)? {
        guard offset < end, let header = byte(offset), header & 0x80 == 0 else { return nil }
        offset += header & 4 != 0 ? 2 : 1
        guard offset <= end else { return nil }
        var size = end - offset
        if header & 2 != 0 {
            guard let coded = self.leb128(at: &offset, byte), coded <= end - offset else { return nil }
            size = coded
        }
        let payload = offset..<offset + size
        offset += size
        return (header >> 3 & 15, payload)
    }

    /// Reads a `leb128()` number: seven bits per byte, the low ones first. `nil` if it has more than 32 bits or the
    /// bytes end. Spec: §4.10.5.
    private static func leb128(at offset: inout Int, _ byte: (Int) -> UInt8?) -> Int? {
        var value: UInt64 = 0
        for index in 0..<UInt64(8) {
            guard let next = byte(offset) else { return nil }
            offset += 1
            value |= UInt64(next & 0x7F) << (index * 7)
            if next & 0x80 == 0 { return value <= UInt64(UInt32.max) ? Int(value) : nil }
        }
        return nil
    }
}
