import HLSLint
import LibAV
import MediaKernels

/// Decodes segments for the linter, one at a time, so that one thread remains for downloads.
actor LintDecoder {
    /// Decodes a segment and returns a description of the damage; `nil` if everything decodes, or if the samples cannot
    /// be checked.
    func damage(in samples: LintSamples) -> String? {
        let damaged = DamageCheck.damagedFrames(
            configuration: samples.configuration, memory: PacketMemory(samples.bytes), samples: samples.samples)
        guard let damaged, damaged > 0 else { return nil }
        return "a decoder finds \(damaged) of its \(samples.samples.count) frames damaged"
    }
}
