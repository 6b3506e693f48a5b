/// The first fields of an H.265 sequence parameter set, including the frame size.
///
/// Spec: ITU-T H.265 §7.3.2.2.1, §7.3.3.
package struct HEVCSequenceParameterSet: Sendable, Hashable {
    /// Coded frame width in luma samples, before cropping.
    package let width: Int
    /// Coded frame height in luma samples, before cropping.
    package let height: Int
    /// The 12 bytes from general_profile_space to general_level_idc, as in an `HEVCDecoderConfigurationRecord`.
    package let profile: [UInt8]

    /// Reads a sequence parameter set.
    ///
    /// - Parameter nalUnit: The whole NAL unit with its two-byte header and emulation prevention bytes.
    /// - Returns: `nil` for anything that is not a readable parameter set.
    package init?(nalUnit: [UInt8]) {
        guard nalUnit.count >= 16, nalUnit[0] >> 1 & 0x3F == 33 else { return nil }
        // The size is near the beginning; a VUI of kilobytes is not read.
        let bytes = SequenceParameterSet.removingEmulationPrevention(nalUnit[2..<min(nalUnit.count, 512)])
        guard bytes.count >= 14 else { return nil }
        self.profile = Array(bytes[1..<13])
        let subLayers = Int(bytes[0] >> 1 & 7)
        var reader = BitReader(Array(bytes[13...]))
        guard Self.skipSubLayers(subLayers, &reader), let id = reader.unsignedGolomb(), id <= 15,
            let chroma = reader.unsignedGolomb(), chroma <= 3
        else { return nil }
        if chroma == 3, reader.flag() == nil { return nil }
        // More than 65,536 samples per side exceed every level and indicate damage.
        guard let width = reader.unsignedGolomb(), (1...65_536).contains(width),
            let height = reader.unsignedGolomb(), (1...65_536).contains(height)
        else { return nil }
        self.width = Int(width)
        self.height = Int(height)
    }

    /// Skips the `profile_tier_level` fields of `count` lower temporal layers; `false` if the bytes end.
    private static func skipSubLayers(_ count: Int, _ reader: inout BitReader) -> Bool {
        guard count > 0 else { return true }
        var bits = 0
        for _ in 0..<count {
            guard let hasProfile = reader.flag(), let hasLevel = reader.flag() else { return false }
            bits += (hasProfile ? 88 : 0) + (hasLevel ? 8 : 0)
        }
        for _ in count..<8 where reader.bits(2) == nil { return false }
        for _ in 0..<bits / 8 where reader.bits(8) == nil { return false }
        return true
    }
}

extension HEVCSequenceParameterSet {
    /// Reads the first SPS of an `HEVCDecoderConfigurationRecord`; `nil` if there is none or it cannot be read.
    ///
    /// Spec: ISO/IEC 14496-15 §8.3.3.1.
    package init?(record: [UInt8]) {
        guard record.count > 23 else { return nil }
        var offset = 23
        for _ in 0..<record[22] {
            guard record.count - offset >= 3 else { return nil }
            let type = record[offset] & 0x3F
            let count = Int(record[offset + 1]) << 8 | Int(record[offset + 2])
            offset += 3
            for _ in 0..<count {
                guard record.count - offset >= 2 else { return nil }
                let length = Int(record[offset]) << 8 | Int(record[offset + 1])
                offset += 2
                guard length <= record.count - offset else { return nil }
                if type == 33 {
                    self.init(nalUnit: Array(record[offset..<offset + length]))
                    return
                }
                offset += length
            }
        }
        return nil
    }
}
