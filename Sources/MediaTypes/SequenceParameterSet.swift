/// The frame properties in an H.264 sequence parameter set.
///
/// Spec: ITU-T H.264 §7.3.2.1.1.
package struct SequenceParameterSet: Sendable, Hashable {
    package let profile: UInt8
    /// The byte with the `constraint_set` flags.
    package let constraints: UInt8
    package let level: UInt8
    /// `chroma_format_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package let chromaFormat: UInt8
    /// Bit depth of luma samples, 8…14.
    package let lumaBitDepth: UInt8
    /// Bit depth of chroma samples, 8…14.
    package let chromaBitDepth: UInt8
    /// Frame width after cropping, in luma samples.
    package let width: Int
    /// Frame height after cropping, in luma samples.
    package let height: Int
    /// `frame_mbs_only_flag`: whether no frame is coded as fields, not even in parts.
    package let framesOnly: Bool
    /// Information for reading picture timing SEI messages; `nil` if the parameter set has no timing information.
    package let timing: PictureTimingRules?

    /// Codec string for playlists and MP4, `avc1.PPCCLL`. Spec: RFC 6381 §3.3.
    package var codecString: String {
        "avc1." + Hexadecimal.text([self.profile, self.constraints, self.level])
    }

    /// Whether parameter sets of a profile contain the chroma format and bit depths. Spec: §7.3.2.1.1.
    package static func hasChromaFields(profile: UInt8) -> Bool {
        [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile)
    }

    /// Reads a sequence parameter set.
    ///
    /// - Parameter nalUnit: The whole NAL unit with its one-byte header and emulation prevention bytes.
    /// - Returns: `nil` for anything that is not a readable parameter set.
    package init?(nalUnit: [UInt8]) {
        guard nalUnit.count >= 4, nalUnit[0] & 0x1F == 7 else { return nil }
        self.profile = nalUnit[1]
        self.constraints = nalUnit[2]
        self.level = nalUnit[3]
        var reader = BitReader(Self.removingEmulationPrevention(nalUnit[4...]))
        guard let id = reader.unsignedGolomb(), id <= 31 else { return nil }
        var format: UInt32 = 1
        var depths: (luma: UInt32, chroma: UInt32) = (0, 0)
        var separatePlanes = false
        if Self.hasChromaFields(profile: nalUnit[1]) {
            guard let chroma = reader.unsignedGolomb(), chroma <= 3 else { return nil }
            format = chroma
            if chroma == 3 {
                guard let separate = reader.flag() else { return nil }
                separatePlanes = separate
            }
            guard let luma = reader.unsignedGolomb(), luma <= 6, let chromaDepth = reader.unsignedGolomb(),
                chromaDepth <= 6, reader.flag() != nil, Self.skipScalingMatrices(&reader, chromaFormat: chroma)
            else { return nil }
            depths = (luma, chromaDepth)
        }
        guard Self.skipOrderCount(&reader), reader.unsignedGolomb() != nil, reader.flag() != nil,
            let size = Self.readSize(&reader, chromaArray: separatePlanes ? 0 : format)
        else { return nil }
        self.chromaFormat = UInt8(format)
        self.lumaBitDepth = UInt8(8 + depths.luma)
        self.chromaBitDepth = UInt8(8 + depths.chroma)
        self.width = size.width
        self.height = size.height
        self.framesOnly = size.framesOnly
        self.timing = PictureTimingRules(&reader)
    }

    /// Returns the payload of a NAL unit without its emulation prevention bytes. Spec: §7.4.1.1.
    package static func removingEmulationPrevention(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }

    private static func skipScalingMatrices(_ reader: inout BitReader, chromaFormat: UInt32) -> Bool {
        guard let present = reader.flag() else { return false }
        guard present else { return true }
        for list in 0..<(chromaFormat == 3 ? 12 : 8) {
            guard let listed = reader.flag() else { return false }
            guard listed else { continue }
            var last: Int64 = 8
            var next: Int64 = 8
            for _ in 0..<(list < 6 ? 16 : 64) {
                if next != 0 {
                    guard let delta = reader.signedGolomb() else { return false }
                    // Euclidean remainder: the syntax wraps at 8 bits.
                    next = ((last + delta) % 256 + 256) % 256
                }
                if next != 0 { last = next }
            }
        }
        return true
    }

    private static func skipOrderCount(_ reader: inout BitReader) -> Bool {
        guard reader.unsignedGolomb() != nil, let type = reader.unsignedGolomb(), type <= 2 else { return false }
        switch type {
        case 0: return reader.unsignedGolomb() != nil
        case 1:
            guard reader.flag() != nil, reader.signedGolomb() != nil, reader.signedGolomb() != nil,
                let cycle = reader.unsignedGolomb(), cycle <= 255
            else { return false }
            for _ in 0..<cycle where reader.signedGolomb() == nil { return false }
            return true
        default: return true
        }
    }

    private static func readSize(
        _ reader: inout BitReader, chromaArray: UInt32
    ) -> (width: Int, height: Int, framesOnly: Bool)? {
        // More than 4,096 macroblocks per side (65,536 samples) exceed every level and indicate damage.
        guard let widthMinus1 = reader.unsignedGolomb(), widthMinus1 < 4_096,
            let heightMinus1 = reader.unsignedGolomb(), heightMinus1 < 4_096, let framesOnly = reader.flag()
        else { return nil }
        if !framesOnly, reader.flag() == nil { return nil }
        guard reader.flag() != nil, let cropped = reader.flag() else { return nil }
        let fields = framesOnly ? 1 : 2
        var width = (Int(widthMinus1) + 1) * 16
        var height = (Int(heightMinus1) + 1) * 16 * fields
        if cropped {
            var edges: [Int] = []
            for _ in 0..<4 {
                guard let edge = reader.unsignedGolomb(), edge < 65_536 else { return nil }
                edges.append(Int(edge))
            }
            let unitX = chromaArray == 1 || chromaArray == 2 ? 2 : 1
            let unitY = (chromaArray == 1 ? 2 : 1) * fields
            width -= (edges[0] + edges[1]) * unitX
            height -= (edges[2] + edges[3]) * unitY
        }
        guard width > 0, height > 0 else { return nil }
        return (width, height, framesOnly)
    }
}

extension SequenceParameterSet {
    /// Reads the first SPS of an `AVCDecoderConfigurationRecord`; `nil` if there is none or it cannot be read.
    ///
    /// Spec: ISO/IEC 14496-15 §5.3.3.1.
    package init?(record: [UInt8]) {
        guard record.count > 8, record[0] == 1, record[5] & 0x1F > 0 else { return nil }
        let length = Int(record[6]) << 8 | Int(record[7])
        guard length <= record.count - 8 else { return nil }
        self.init(nalUnit: Array(record[8..<(8 + length)]))
    }
}
