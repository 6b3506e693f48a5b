import MediaKernels
package import MediaTypes

/// The H.264 decoder configuration record (`avcC`): the parameter sets that a player needs before the first frame.
///
/// Spec: ISO/IEC 14496-15 §5.3.3.1.
package struct AVCConfiguration: Sendable, Hashable {
    /// Sequence parameter sets as whole NAL units, without start code or length.
    package let sequenceParameterSets: [[UInt8]]
    /// Picture parameter sets as whole NAL units, without start code or length.
    package let pictureParameterSets: [[UInt8]]
    /// The parsed first sequence parameter set.
    package let sequence: SequenceParameterSet

    /// RFC 6381 codec string `avc1.PPCCLL`, from the bytes of the first sequence parameter set.
    package var codecString: String { self.sequence.codecString }

    /// Makes a record from raw NAL units. NAL units other than parameter sets (types 7 and 8) are ignored.
    ///
    /// - Returns: `nil` unless there are 1…31 sequence and 1…255 picture parameter sets, each smaller than 64 KiB, and
    ///   the first sequence parameter set can be parsed.
    package init?(nalUnits: [[UInt8]]) {
        let sequences = nalUnits.filter { ($0.first ?? 0) & 0x1F == 7 }
        let pictureSets = nalUnits.filter { ($0.first ?? 0) & 0x1F == 8 }
        guard let first = sequences.first, let sequence = SequenceParameterSet(nalUnit: first), !pictureSets.isEmpty,
            sequences.count <= 31, pictureSets.count <= 255,
            (sequences + pictureSets).allSatisfy({ $0.count <= Int(UInt16.max) })
        else { return nil }
        self.sequenceParameterSets = sequences
        self.pictureParameterSets = pictureSets
        self.sequence = sequence
    }

    /// Reads the parameter sets in an encoder's extradata, as ``init(nalUnits:)`` does: either in Annex B form (with
    /// start codes; SEI and other NAL units are ignored) or as `avcC`.
    package init?(extradata: [UInt8]) {
        let record = AVCRecord(record: extradata)
        self.init(
            nalUnits: record.map { $0.sequenceParameterSets + $0.pictureParameterSets }
                ?? AnnexB.units(of: extradata))
    }

    /// The serialized `avcC` record. The same parameter sets give the same bytes, whatever form they were read from. It
    /// declares NAL unit lengths of four bytes.
    package var record: [UInt8] {
        var writer = BoxWriter()
        writer.u8(1)
        writer.u8(self.sequence.profile)
        // `profile_compatibility`: a flag is set if it is set in every sequence parameter set.
        writer.u8(self.sequenceParameterSets.reduce(0xFF) { $0 & ($1.count > 2 ? $1[2] : 0xFF) })
        writer.u8(self.sequence.level)
        writer.u8(0xFC | 3)
        writer.u8(0xE0 | UInt8(self.sequenceParameterSets.count))
        Self.write(self.sequenceParameterSets, to: &writer)
        writer.u8(UInt8(self.pictureParameterSets.count))
        Self.write(self.pictureParameterSets, to: &writer)
        if SequenceParameterSet.hasChromaFields(profile: self.sequence.profile) {
            writer.u8(0xFC | self.sequence.chromaFormat)
            writer.u8(0xF8 | (self.sequence.lumaBitDepth - 8))
            writer.u8(0xF8 | (self.sequence.chromaBitDepth - 8))
            writer.u8(0)
        }
        return writer.bytes
    }

    private static func write(_ units: [[UInt8]], to writer: inout BoxWriter) {
        for unit in units {
            writer.u16(UInt16(unit.count))
            writer.raw(unit)
        }
    }
}
