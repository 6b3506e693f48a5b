package import LibAV

extension VideoEncoderSettings {
    /// Number of reference frames of each preset, which is part of the sequence parameter set.
    private static let references = [
        "ultrafast": 1, "superfast": 1, "veryfast": 1, "faster": 2, "fast": 2, "medium": 3, "slow": 5, "slower": 8,
        "veryslow": 16,
    ]
    /// Presets whose psychovisual optimization changes the chroma quantizer offset, which is part of the picture
    /// parameter set.
    private static let psychovisual: Set<String> = ["fast", "medium", "slow", "slower", "veryslow"]

    /// Settings of a much cheaper encoder for the same frames (the sibling), whose stream fits the same initialization
    /// segment; `nil` if there is nothing cheaper, and for hardware encoders.
    ///
    /// It uses libx264's fastest preset except for everything that is visible in the parameter sets: reference frames,
    /// CABAC, the 8x8 transform, weighted prediction, the chroma quantizer offset and reordering stay the same. The
    /// code that opens it compares the parameter sets nevertheless.
    package var sibling: VideoEncoderSettings? {
        guard self.implementation == .libx264, let references = Self.references[self.preset], self.preset != "ultrafast"
        else { return nil }
        var cheap = self
        cheap.preset = "ultrafast"
        // A lower limit for the quantizer: without it, a held frame would be refined again and again.
        var words = ["ref=\(references)", "deblock=0,0", "aq-mode=0", "no-chroma-me=1", "qpmin=26"]
        // These options are applied after the profile, which would otherwise forbid them: H.264 Annex A.2.1.
        if self.profile != "baseline" { words += ["cabac=1", "weightp=1", "weightb=1"] }
        if self.profile == "high" { words.append("8x8dct=1") }
        if Self.psychovisual.contains(self.preset) { words.append("chroma-qp-offset=-2") }
        cheap.x264Parameters = words.joined(separator: ":")
        return cheap
    }
}
