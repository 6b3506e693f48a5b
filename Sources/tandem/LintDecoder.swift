import HLSLint
import LibAV
import MediaKernels

/// Decodes segments for the linter, one at a time, so that a thread remains for downloads.
actor LintDecoder {
    /// A description of the damage; `nil` if everything decodes, or nothing is known.
    func damage(in samples: LintSamples) -> String? {
        let damaged = DamageCheck.damagedFrames(
            configuration: samples.configuration, memory: PacketMemory(samples.bytes), samples: samples.samples)
        guard let damaged, damaged > 0 else { return nil }
        return "a decoder finds \(damaged) of its \(samples.samples.count) frames damaged"
    }
}
