/// Compares codec strings: a declared codec covers another one if every player that can play the declared one can play
/// the other.
package enum CodecCompatibility {
    /// `profile_idc` values of H.264 Baseline, Main and High, in ascending order: a decoder for a later profile also
    /// decodes the earlier ones as encoders use them. Spec: ITU-T H.264 Annex A.2.
    private static let profiles = [66, 77, 100]
    /// Codec strings of AAC-LC, HE-AAC and HE-AAC v2: a decoder for a later type also decodes the earlier ones, and a
    /// stream of a later type often only signals its AAC-LC core. Spec: ISO/IEC 14496-3 §1.6.5 (implicit, and backward
    /// compatible explicit signaling).
    private static let aacProfiles = ["mp4a.40.2", "mp4a.40.5", "mp4a.40.29"]

    /// Whether a codec string denotes HE-AAC, with or without parametric stereo.
    static func isHighEfficiency(_ codec: String) -> Bool { self.aacProfiles.dropFirst().contains(codec.lowercased()) }

    static func isAAC(_ codec: String) -> Bool { self.aacProfiles.contains(codec.lowercased()) }

    /// Whether a player that can play `declared` can play `found`: RFC 6381 `avc1.PPCCLL` with no higher profile and
    /// level, or AAC (`mp4a.40.N`) of the same or an earlier type. Players decide by the declared codec, so it must cover
    /// all media of the variant.
    package static func covers(_ declared: String, _ found: String) -> Bool {
        if let limit = self.aacProfiles.firstIndex(of: declared.lowercased()) {
            return self.aacProfiles.firstIndex(of: found.lowercased()).map { $0 <= limit } ?? false
        }
        guard let most = self.parts(declared), let own = self.parts(found),
            let limit = self.profiles.firstIndex(of: most.profile),
            let place = self.profiles.firstIndex(of: own.profile)
        else { return false }
        return place <= limit && own.level <= most.level
    }

    private static func parts(_ codec: String) -> (profile: Int, level: Int)? {
        let lower = codec.lowercased()
        guard lower.hasPrefix("avc1."), lower.utf8.count == 11 else { return nil }
        let digits = lower.dropFirst(5)
        guard let profile = Int(digits.prefix(2), radix: 16), let level = Int(digits.suffix(2), radix: 16) else {
            return nil
        }
        return (profile, level)
    }
}
