import MediaKernels

/// A validated `AVCDecoderConfigurationRecord`.
///
/// Spec: ISO/IEC 14496-15 §5.3.3.1. Reserved bits are ignored (some encoders leave them 0); every length must lie
/// inside the record, because decoders trust them.
package struct AVCRecord: Sendable, Hashable {
    /// The three bytes AVCProfileIndication, profile_compatibility and AVCLevelIndication.
    package let profile: [UInt8]
    /// Size of each NAL unit length in the stream, 1 to 4 bytes.
    package let lengthSize: Int
    /// Sequence parameter sets (SPS) as NAL units, header byte first; at least one.
    package let sequenceParameterSets: [[UInt8]]
    /// Picture parameter sets (PPS) as NAL units, header byte first; at least one.
    package let pictureParameterSets: [[UInt8]]
    /// The bytes after the picture parameter sets: chroma format and bit depths of the high profiles. May be empty.
    package let rest: [UInt8]

    /// Reads a record; `nil` if it is empty, truncated, of another version, or without parameter sets.
    package init?(record: [UInt8]) {
        guard record.count >= 7, record[0] == 1 else { return nil }
        self.profile = Array(record[1...3])
        self.lengthSize = Int(record[4] & 3) + 1
        var offset = 6
        guard
            let sequence = AVCRecord.units(in: record, at: &offset, count: Int(record[5] & 0x1F)),
            offset < record.count
        else { return nil }
        let pictureCount = Int(record[offset])
        offset += 1
        guard let picture = AVCRecord.units(in: record, at: &offset, count: pictureCount),
            !sequence.isEmpty, !picture.isEmpty
        else { return nil }
        self.sequenceParameterSets = sequence
        self.pictureParameterSets = picture
        self.rest = Array(record[offset...])
    }

    /// Makes a record from parameter sets in the stream, without ``rest``; `nil` if one kind is missing, if the first
    /// SPS is too short to contain its profile, or if a set is empty or does not fit the record.
    package init?(sequenceParameterSets sequence: [[UInt8]], pictureParameterSets picture: [[UInt8]]) {
        guard let first = sequence.first, first.count >= 4, !picture.isEmpty, sequence.count <= 31,
            picture.count <= 255,
            (sequence + picture).allSatisfy({ !$0.isEmpty && $0.count <= 0xFFFF })
        else { return nil }
        self.profile = Array(first[1...3])
        self.lengthSize = 4
        self.sequenceParameterSets = sequence
        self.pictureParameterSets = picture
        self.rest = []
    }

    /// Makes a record from the SPS and PPS in an encoder's Annex B bytes; `nil` under the conditions of
    /// ``init(sequenceParameterSets:pictureParameterSets:)``.
    package init?(annexB: [UInt8]) {
        let units = AnnexB.units(of: annexB)
        self.init(
            sequenceParameterSets: units.filter { NALTypes(header: $0[0]) == .sps },
            pictureParameterSets: units.filter { NALTypes(header: $0[0]) == .pps })
    }

    /// The record's bytes in normalized form: reserved bits are 1, and NAL unit lengths have four bytes, as in payloads
    /// that were converted for this project.
    package var record: [UInt8] {
        var bytes: [UInt8] =
            [1] + self.profile + [0xFF, 0xE0 | UInt8(truncatingIfNeeded: self.sequenceParameterSets.count)]
        AVCRecord.append(self.sequenceParameterSets, to: &bytes)
        bytes.append(UInt8(truncatingIfNeeded: self.pictureParameterSets.count))
        AVCRecord.append(self.pictureParameterSets, to: &bytes)
        return bytes + self.rest
    }

    /// Reads NAL units with 16-bit lengths and skips those shorter than `least` bytes; `nil` if a length is invalid.
    package static func units(
        in record: [UInt8], at offset: inout Int, count: Int, atLeast least: Int = 1
    ) -> [[UInt8]]? {
        var units: [[UInt8]] = []
        for _ in 0..<count {
            guard record.count - offset >= 2 else { return nil }
            let length = Int(record[offset]) << 8 | Int(record[offset + 1])
            offset += 2
            guard length <= record.count - offset else { return nil }
            if length >= least { units.append(Array(record[offset..<(offset + length)])) }
            offset += length
        }
        return units
    }

    /// Appends NAL units, each after its 16-bit length.
    package static func append(_ units: [[UInt8]], to bytes: inout [UInt8]) {
        for unit in units {
            bytes += [UInt8(truncatingIfNeeded: unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)]
            bytes += unit
        }
    }
}
