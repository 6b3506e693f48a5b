package import LibAV

extension VideoEncoderSettings {
    /// Reference pictures of each preset, which stand in the sequence parameter set.
    private static let references = [
        "ultrafast": 1, "superfast": 1, "veryfast": 1, "faster": 2, "fast": 2, "medium": 3, "slow": 5, "slower": 8,
        "veryslow": 16,
    ]
    /// Presets whose psychovisual decisions move the chroma quantizer, which stands in the picture parameter set.
    private static let psychovisual: Set<String> = ["fast", "medium", "slow", "slower", "veryslow"]

    /// A far cheaper encoder of the same pictures, whose stream fits the same initialization segment; `nil` where there is
    /// nothing cheaper.
    ///
    /// As quick as libx264's quickest preset as far as the parameter sets do not show it: what they tell (reference
    /// pictures, CABAC, the 8x8 transform, weighted prediction, the chroma quantizer, reordering) stays. Whoever opens it
    /// compares them all the same.
    package var sibling: VideoEncoderSettings? {
        guard let references = Self.references[self.preset], self.preset != "ultrafast" else { return nil }
        var cheap = self
        cheap.preset = "ultrafast"
        // A floor under the quantizer: a picture that is held costs a third of what it costs to refine it on and on.
        var words = ["ref=\(references)", "deblock=0,0", "aq-mode=0", "no-chroma-me=1", "qpmin=26"]
        // These words come after the profile, which would have forbidden them: H.264 Annex A.2.1.
        if self.profile != "baseline" { words += ["cabac=1", "weightp=1", "weightb=1"] }
        if self.profile == "high" { words.append("8x8dct=1") }
        if Self.psychovisual.contains(self.preset) { words.append("chroma-qp-offset=-2") }
        cheap.x264Parameters = words.joined(separator: ":")
        return cheap
    }
}
