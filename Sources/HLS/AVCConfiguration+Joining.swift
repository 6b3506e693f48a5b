import MediaTypes

extension AVCConfiguration {
    /// One record with the parameter sets of this stream and of another one: a decoder that has it can play both, and take either
    /// up at any IDR picture.
    ///
    /// Spec: ISO/IEC 14496-15 §5.3.3.1.2: profile and level of the record have to cover all its sets, so they are this stream's.
    ///
    /// - Returns: `nil` if a parameter set id is used by both, if an id cannot be read, or if a decoder for this stream need not be able to
    ///   decode the other one.
    package func joined(with other: AVCConfiguration) -> AVCConfiguration? {
        guard let own = Self.profiles.firstIndex(of: self.sequence.profile),
            let given = Self.profiles.firstIndex(of: other.sequence.profile), given <= own,
            other.sequence.level <= self.sequence.level, other.sequence.chromaFormat == self.sequence.chromaFormat,
            other.sequence.lumaBitDepth == self.sequence.lumaBitDepth,
            other.sequence.chromaBitDepth == self.sequence.chromaBitDepth,
            Self.haveDistinctIDs(self.sequenceParameterSets + other.sequenceParameterSets, headerLength: 4),
            Self.haveDistinctIDs(self.pictureParameterSets + other.pictureParameterSets, headerLength: 1)
        else { return nil }
        return AVCConfiguration(
            nalUnits: self.sequenceParameterSets + other.sequenceParameterSets + self.pictureParameterSets
                + other.pictureParameterSets)
    }

    /// Profiles a decoder of a later one decodes too: baseline, main, high. Spec: H.264 Annex A.2.
    private static let profiles: [UInt8] = [66, 77, 100]

    /// - Parameter headerLength: Bytes before the id, which comes first in the payload of either kind. Spec: H.264 §7.3.2.1.1, §7.3.2.2.
    private static func haveDistinctIDs(_ units: [[UInt8]], headerLength: Int) -> Bool {
        var known: Set<UInt32> = []
        for unit in units {
            guard unit.count > headerLength else { return false }
            var reader = BitReader(SequenceParameterSet.removingEmulationPrevention(unit[headerLength...]))
            guard let id = reader.unsignedGolomb(), known.insert(id).inserted else { return false }
        }
        return true
    }
}
