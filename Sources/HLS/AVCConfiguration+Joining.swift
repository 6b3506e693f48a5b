import MediaTypes

extension AVCConfiguration {
    /// Returns a decoder configuration record with the parameter sets of both streams: a decoder configured with it can
    /// play either stream and can switch between them at any IDR frame.
    ///
    /// Spec: ISO/IEC 14496-15 §5.3.3.1.2: the profile and level of a record must cover all its sets, so this stream's
    /// are used.
    ///
    /// - Returns: `nil` if both streams use the same parameter set id, if an id cannot be read, if there are too many
    ///   parameter sets for one record, or if a decoder for this stream is not guaranteed to decode the other one.
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

    /// `profile_idc` values of Baseline, Main and High, in ascending order: a decoder for a later profile also decodes
    /// the earlier ones. Spec: H.264 Annex A.2.
    private static let profiles: [UInt8] = [66, 77, 100]

    /// Whether all parameter sets have ids that can be read and are different.
    ///
    /// - Parameter headerLength: Number of bytes before the id, which is the first field of the payload in sequence and
    ///   in picture parameter sets. Spec: H.264 §7.3.2.1.1, §7.3.2.2.
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
