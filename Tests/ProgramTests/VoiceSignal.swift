#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Synthetic audio for tests of noise suppression and automatic gain: interleaved stereo of 48 kHz.
enum VoiceSignal {
    /// A voice: syllables of 0.2 s with a pause of 0.1 s after each, of a falling pitch with eleven harmonics.
    ///
    /// - Parameter amplitude: Amplitude of each harmonic at the middle of a syllable; the peak is about four times as high.
    static func voice(seconds: Double, amplitude: Float) -> [Float] {
        var samples: [Float] = []
        samples.reserveCapacity(Int(seconds * 96_000))
        for pair in 0..<Int(seconds * 48_000) {
            let time = Float(pair) / 48_000
            let inside = time.truncatingRemainder(dividingBy: 0.3)
            var value: Float = 0
            if inside < 0.2 {
                let envelope = sinf(.pi * inside / 0.2)
                let phase = 2 * Float.pi * (170 * inside - 100 * inside * inside)
                for harmonic in 1...11 { value += sinf(Float(harmonic) * phase + Float(harmonic * harmonic)) }
                value *= amplitude * envelope
            }
            samples += [value, value]
        }
        return samples
    }

    /// White noise.
    ///
    /// - Parameter level: Root mean square in dBFS.
    static func noise(seconds: Double, level: Float) -> [Float] {
        var state: UInt32 = 7
        // Uniform between −a and a has the root mean square a / √3.
        let scale = powf(10, level / 20) * Float(3).squareRoot() * 2
        var samples: [Float] = []
        for _ in 0..<Int(seconds * 48_000) {
            state = state &* 1_664_525 &+ 1_013_904_223
            let value = (Float(state >> 8) / Float(1 << 24) - 0.5) * scale
            samples += [value, value]
        }
        return samples
    }

    static func sum(_ one: [Float], _ other: [Float]) -> [Float] { zip(one, other).map { $0 + $1 } }

    /// Blocks of 1024 pairs; the rest that fills no block is left out.
    static func blocks(_ samples: [Float]) -> [[Float]] {
        stride(from: 0, through: samples.count - 2048, by: 2048).map { Array(samples[$0..<$0 + 2048]) }
    }

    /// Root mean square in dBFS of the pairs in the ranges of seconds.
    static func level(_ samples: [Float], _ ranges: [Range<Double>]) -> Float {
        var (sum, count): (Float, Float) = (0, 0)
        for range in ranges {
            let floats = Int(range.lowerBound * 48_000) * 2..<Int(range.upperBound * 48_000) * 2
            for sample in samples[floats.clamped(to: samples.indices)] {
                (sum, count) = (sum + sample * sample, count + 1)
            }
        }
        return sum > 0 ? 10 * log10f(sum / count) : -200
    }

    /// The pauses between the syllables from `first` to `end` seconds, without 20 ms at each side.
    static func pauses(_ first: Double, _ end: Double) -> [Range<Double>] {
        stride(from: (first / 0.3).rounded(.up) * 0.3, to: end - 0.3, by: 0.3).map { $0 + 0.22..<$0 + 0.28 }
    }

    /// The syllables from `first` to `end` seconds.
    static func syllables(_ first: Double, _ end: Double) -> [Range<Double>] {
        stride(from: (first / 0.3).rounded(.up) * 0.3, to: end - 0.3, by: 0.3).map { $0..<$0 + 0.2 }
    }

    /// The largest difference between one sample and the next, left channel.
    static func largestStep(_ samples: [Float]) -> Float {
        var (most, last): (Float, Float) = (0, samples.first ?? 0)
        for index in stride(from: 0, to: samples.count, by: 2) {
            most = max(most, abs(samples[index] - last))
            last = samples[index]
        }
        return most
    }

    /// The shift in pairs, −60…60, at which `output` is most like `input`, over half a second from `first` on.
    static func shift(of output: [Float], against input: [Float], from first: Double) -> Int {
        let start = Int(first * 48_000)
        var best: (shift: Int, likeness: Float) = (0, -.infinity)
        for shift in -60...60 {
            var likeness: Float = 0
            for pair in stride(from: start, to: start + 24_000, by: 1) {
                let other = (pair + shift) * 2
                if other >= 0, other < output.count { likeness += input[pair * 2] * output[other] }
            }
            if likeness > best.likeness { best = (shift, likeness) }
        }
        return best.shift
    }
}
