/// Extracts the decoder configuration from the descriptors of an `esds` box.
///
/// Spec: ISO/IEC 14496-14 §5.6; ISO/IEC 14496-1 §7.2.6.5 (ES_Descriptor), §7.2.6.6 (DecoderConfigDescriptor), §7.2.6.7.
package enum DecoderSpecificInfo {
    /// Reads the decoder-specific information of an `esds` box.
    ///
    /// - Parameter esds: The body of the box, with its version and flags.
    /// - Returns: The decoder-specific information (for AAC, an `AudioSpecificConfig`); `nil` if there is none, or the
    ///   bytes end too early.
    package static func read(esds: [UInt8]) -> [UInt8]? {
        var position = 4
        guard self.open(3, in: esds, at: &position) != nil, position + 3 <= esds.count else { return nil }
        let flags = esds[position + 2]
        position += 3
        // Optional fields: dependsOn_ES_ID, URL, OCR_ES_Id.
        if flags & 0x80 != 0 { position += 2 }
        if flags & 0x40 != 0 {
            guard position < esds.count else { return nil }
            position += 1 + Int(esds[position])
        }
        if flags & 0x20 != 0 { position += 2 }
        guard self.open(4, in: esds, at: &position) != nil else { return nil }
        // Object type, stream type, buffer size, bit rates.
        position += 13
        guard let length = self.open(5, in: esds, at: &position), position + length <= esds.count else { return nil }
        return Array(esds[position..<(position + length)])
    }

    /// Skips the header of a descriptor. Spec: §8.3.3: a length has seven bits per byte, at most four bytes.
    ///
    /// - Returns: Length of the descriptor's content; `nil` if its tag differs from `tag` or the bytes end.
    private static func open(_ tag: UInt8, in bytes: [UInt8], at position: inout Int) -> Int? {
        guard position < bytes.count, bytes[position] == tag else { return nil }
        position += 1
        var length = 0
        for _ in 0..<4 {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            length = length << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return length
    }
}
