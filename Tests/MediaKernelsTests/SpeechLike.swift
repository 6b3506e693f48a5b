import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Audio with the properties of speech that matter to a limiter: pulses at the voice's pitch, resonances at formants,
/// in syllables of about 200 ms and words with pauses between them.
enum SpeechLike {
    /// Makes such audio, as interleaved stereo at 48 kHz.
    static func make(seconds: Double, pitch: Double, level: Float, seed: UInt64) -> [Float] {
        var random = TestRandom(seed: seed)
        let pairs = Int(seconds * 48_000)
        // Three resonators, 80 Hz wide.
        let radius: Double = exp(-Double.pi * 80 / 48_000)
        var states = [(Double, Double)](repeating: (0, 0), count: 3)
        var formants = [700.0, 1_220, 2_600]
        var (phase, loudness, goal) = (0.0, 0.0, 0.0)
        var untilNext = 0
        var output = [Float](repeating: 0, count: pairs * 2)
        var largest = 1e-9
        for index in 0..<pairs {
            if untilNext == 0 {
                untilNext = Int.random(in: 5_000...14_000, using: &random)
                goal = Int.random(in: 0..<5, using: &random) == 0 ? 0 : Double.random(in: 0.4...1, using: &random)
                formants = [
                    Double.random(in: 300...800, using: &random), Double.random(in: 900...2_200, using: &random),
                    Double.random(in: 2_300...3_000, using: &random),
                ]
            }
            untilNext -= 1
            loudness += (goal - loudness) * 0.000_8
            phase += pitch / 48_000
            var pulse = 0.0
            if phase >= 1 {
                phase -= 1
                pulse = loudness
            }
            var sum = 0.0
            for (number, formant) in formants.enumerated() {
                let turn = 2 * Double.pi * formant / 48_000
                let (last, beforeLast) = states[number]
                let next = pulse + 2 * radius * cos(turn) * last - radius * radius * beforeLast
                states[number] = (next, states[number].0)
                sum += next / Double(number + 1)
            }
            largest = max(largest, abs(sum))
            output[2 * index] = Float(sum)
            output[2 * index + 1] = Float(sum)
        }
        return output.map { $0 / Float(largest) * level }
    }
}
