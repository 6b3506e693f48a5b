import MediaTypes

/// H.264 parameter sets by their numbers. A set replaces an earlier one with the same number.
///
/// Spec: ITU-T H.264 §7.3.2.1.1 (SPS), §7.3.2.2 (PPS), §7.4.1.2.1 (activation).
struct AVCParameterSets: Sendable, Hashable {
    /// Maximum size of all sets together in bytes; their configuration record has at most
    /// ``CodecParameters/largestConfiguration``.
    private static let mostBytes = CodecParameters.largestConfiguration - 1024

    private struct PictureSet: Sendable, Hashable {
        let sequence: UInt32
        let unit: [UInt8]
    }

    /// NAL units by `seq_parameter_set_id`, 0…31.
    private var sequence: [UInt32: [UInt8]] = [:]
    /// PPS by `pic_parameter_set_id`, 0…255.
    private var picture: [UInt32: PictureSet] = [:]
    private var count = 0

    /// Whether there are sets of both kinds.
    var isComplete: Bool { !self.sequence.isEmpty && !self.picture.isEmpty }

    /// Adds a set.
    ///
    /// - Parameter unit: A NAL unit of type 7 or 8 with its header.
    /// - Returns: False for anything that is no readable set, or if all sets together would be too large.
    mutating func add(_ unit: [UInt8]) -> Bool {
        guard let header = unit.first else { return false }
        switch header & 0x1F {
        case 7:
            guard unit.count > 4, let id = Self.numbers(unit.dropFirst(4), count: 1)?.first, id <= 31 else {
                return false
            }
            let size = self.count - (self.sequence[id]?.count ?? 0) + unit.count
            guard size <= Self.mostBytes else { return false }
            self.count = size
            self.sequence[id] = unit
        case 8:
            guard let ids = Self.numbers(unit.dropFirst(), count: 2), ids[0] <= 255, ids[1] <= 31 else { return false }
            let size = self.count - (self.picture[ids[0]]?.unit.count ?? 0) + unit.count
            guard size <= Self.mostBytes else { return false }
            self.count = size
            self.picture[ids[0]] = PictureSet(sequence: ids[1], unit: unit)
        default: return false
        }
        return true
    }

    func contains(_ unit: [UInt8]) -> Bool {
        self.sequence.values.contains(unit) || self.picture.values.contains { $0.unit == unit }
    }

    /// These sets with those of `newer` in addition, or in place of their own; nil if they are too large.
    func merged(with newer: AVCParameterSets) -> AVCParameterSets? {
        var result = self
        for unit in newer.sequenceUnits + newer.pictureUnits where !result.add(unit) { return nil }
        return result
    }

    /// The SPS that slices with this `pic_parameter_set_id` refer to; nil if either set is missing.
    func sequenceSet(ofPicture id: UInt32) -> [UInt8]? { self.picture[id].flatMap { self.sequence[$0.sequence] } }

    /// The configuration record; nil if a kind is missing or there are too many or too large sets.
    var record: [UInt8]? {
        guard
            let record = AVCRecord(
                sequenceParameterSets: self.sequenceUnits, pictureParameterSets: self.pictureUnits)?.record,
            record.count <= CodecParameters.largestConfiguration
        else { return nil }
        return record
    }

    private var sequenceUnits: [[UInt8]] { self.sequence.sorted { $0.key < $1.key }.map(\.value) }
    private var pictureUnits: [[UInt8]] { self.picture.sorted { $0.key < $1.key }.map(\.value.unit) }

    /// The first `count` Exp-Golomb numbers in the first 32 bytes of a payload; nil if there are fewer.
    static func numbers(_ payload: ArraySlice<UInt8>, count: Int) -> [UInt32]? {
        // Three numbers have at most 189 bits, plus emulation prevention bytes; longer ones are not valid here.
        var reader = BitReader(SequenceParameterSet.removingEmulationPrevention(payload.prefix(32)))
        var numbers: [UInt32] = []
        for _ in 0..<count {
            guard let number = reader.unsignedGolomb() else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}
