package import MediaKernels

/// A validated `HEVCDecoderConfigurationRecord`.
///
/// Spec: ISO/IEC 14496-15 §8.3.3.1. Every length must lie inside the record, because decoders trust them.
package struct HEVCConfiguration: Sendable, Hashable {
    /// NAL unit types of the parameter sets (ITU-T H.265 Table 7-1).
    static let types: (video: UInt8, sequence: UInt8, picture: UInt8) = (32, 33, 34)

    /// The 22 bytes of fixed fields in the record, before the arrays of NAL units.
    private let head: [UInt8]
    /// Size of each NAL unit length field in the stream, 1 to 4 bytes.
    package let lengthSize: Int
    /// The record's NAL units, by type; each includes its NAL unit header.
    package let arrays: [UnitArray]

    package struct UnitArray: Sendable, Hashable {
        package var type: UInt8
        package var units: [[UInt8]]
    }

    /// Maximum number of NAL units in one record: up to 16 SPS, and other units.
    private static let unitLimit = 128

    /// Reads a record; `nil` if it is empty, truncated, of an unknown version, or has more than 128 NAL units.
    package init?(record: [UInt8]) {
        // Version 0 was written before the standard was final.
        guard record.count >= 23, record[0] <= 1 else { return nil }
        var offset = 23
        var arrays: [UnitArray] = []
        var total = 0
        for _ in 0..<record[22] {
            guard record.count - offset >= 3 else { return nil }
            let type = record[offset] & 0x3F
            let count = Int(record[offset + 1]) << 8 | Int(record[offset + 2])
            offset += 3
            total += count
            guard total <= HEVCConfiguration.unitLimit else { return nil }
            // A unit has at least two header bytes.
            guard let units = AVCRecord.units(in: record, at: &offset, count: count, atLeast: 2) else { return nil }
            if !units.isEmpty { arrays.append(UnitArray(type: type, units: units)) }
        }
        self.head = [UInt8](record[..<22])
        self.lengthSize = Int(record[21] & 3) + 1
        self.arrays = arrays
    }

    /// Makes a record from parameter sets in the stream; `nil` without a readable SPS, or without a PPS.
    package init?(_ sets: HEVCUnits) {
        guard let first = sets.sequence.first, let sequence = HEVCSequenceParameterSet(nalUnit: first),
            !sets.picture.isEmpty, (sets.video + sets.sequence + sets.picture).allSatisfy({ $0.count <= 0xFFFF }),
            sets.video.count + sets.sequence.count + sets.picture.count <= HEVCConfiguration.unitLimit
        else { return nil }
        // Spatial segmentation, parallelism, chroma format, bit depth and frame rate are left unspecified: decoders
        // read the parameter sets.
        self.head = [1] + sequence.profile + [0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0F]
        self.lengthSize = 4
        self.arrays = [
            UnitArray(type: HEVCConfiguration.types.video, units: sets.video),
            UnitArray(type: HEVCConfiguration.types.sequence, units: sets.sequence),
            UnitArray(type: HEVCConfiguration.types.picture, units: sets.picture),
        ].filter { !$0.units.isEmpty }
    }

    /// The sequence parameter sets in the record.
    package var sequenceParameterSets: [[UInt8]] {
        self.arrays.filter { $0.type == HEVCConfiguration.types.sequence }.flatMap(\.units)
    }

    /// The record with four-byte NAL unit lengths, as the payload is passed on.
    package var record: [UInt8] {
        var bytes = self.head
        bytes[21] |= 3
        bytes.append(UInt8(truncatingIfNeeded: self.arrays.count))
        for array in self.arrays {
            bytes += [0x80 | array.type, UInt8(array.units.count >> 8), UInt8(truncatingIfNeeded: array.units.count)]
            AVCRecord.append(array.units, to: &bytes)
        }
        return bytes
    }
}

/// The parameter sets and NAL unit types of an H.265 access unit.
package struct HEVCUnits {
    package private(set) var video: [[UInt8]] = []
    package private(set) var sequence: [[UInt8]] = []
    package private(set) var picture: [[UInt8]] = []
    /// True if decoding can begin at this access unit: a BLA, IDR or CRA frame (NAL unit types 16 to 23).
    package private(set) var isKey = false
    /// True if the access unit contains slices of a frame (NAL unit types 0 to 31).
    package private(set) var hasPicture = false
    /// True if the access unit contains NAL units that belong to the next frame: parameter sets and prefix SEI (types
    /// 32 to 34, and 39).
    package private(set) var isAhead = false

    /// Reads the NAL units of an access unit.
    ///
    /// - Parameter range: NAL units with four-byte lengths that end exactly at the end of the range.
    package init(_ memory: PacketMemory, in range: Range<Int>) {
        var offset = range.lowerBound
        while offset < range.upperBound, let length = memory.unsigned32(at: offset) {
            let start = offset + 4
            let end = start + Int(length)
            guard end <= range.upperBound, let header = memory.byte(at: start) else { return }
            let type = header >> 1 & 0x3F
            if type < HEVCConfiguration.types.video { self.hasPicture = true }
            if (HEVCConfiguration.types.video...HEVCConfiguration.types.picture).contains(type) || type == 39 {
                self.isAhead = true
            }
            switch type {
            case 16...23: self.isKey = true
            // Shorter than its header: it cannot be part of a record.
            case _ where length < 2: break
            case HEVCConfiguration.types.video: self.video.append(memory.bytes(in: start..<end))
            case HEVCConfiguration.types.sequence: self.sequence.append(memory.bytes(in: start..<end))
            case HEVCConfiguration.types.picture: self.picture.append(memory.bytes(in: start..<end))
            default: break
            }
            offset = end
        }
    }
}
