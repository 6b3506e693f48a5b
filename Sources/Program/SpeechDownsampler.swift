import Libc

/// Converts the program's audio for speech recognition: 48 kHz stereo to 16 kHz mono with 16 bits. A pure value.
///
/// The low-pass filter is linear-phase and its delay is compensated: the output sample at position p is that of the
/// program's position p, where both count sample pairs at 48 kHz.
package struct SpeechDownsampler: Sendable {
    /// Input samples per output sample.
    package static let ratio = 3
    /// Number of input samples on each side of an output sample that its filter covers: 1 ms.
    private static let reach = 48
    /// Filter weights: a windowed sinc with a cutoff of 7.2 kHz; their sum is 1.
    private static let weights: [Float] = {
        let cutoff = 7_200.0 / 48_000
        let raw = (-Self.reach...Self.reach).map { offset -> Double in
            let x = Double(offset)
            let sinc = offset == 0 ? 2 * cutoff : sin(2 * .pi * cutoff * x) / (.pi * x)
            // A Blackman window, which is 0 just outside the reach.
            let phase = .pi * x / Double(Self.reach + 1)
            return sinc * (0.42 + 0.5 * cos(phase) + 0.08 * cos(2 * phase))
        }
        let sum = raw.reduce(0, +)
        return raw.map { Float($0 / sum) }
    }()

    /// Mono input that is still needed, and the position of its first sample.
    private var buffer: [Float] = []
    private var start: Int64 = 0

    package init() {}

    /// Adds a block of the program.
    ///
    /// - Parameters:
    ///   - block: Interleaved stereo samples.
    ///   - position: Position of the first sample pair. If it does not follow the previous block, the filter begins
    ///     anew, with silence before the block.
    /// - Returns: The output samples that are complete, and the position of the first of them, a multiple of 3.
    package mutating func convert(_ block: [Float], at position: Int64) -> (position: Int64, samples: [Int16]) {
        let reach = Self.reach
        if self.buffer.isEmpty || position != self.start &+ Int64(self.buffer.count) {
            self.buffer = [Float](repeating: 0, count: reach)
            self.start = position &- Int64(reach)
        }
        for index in stride(from: 0, to: block.count - 1, by: 2) {
            self.buffer.append((block[index] + block[index + 1]) / 2)
        }
        let ratio = Int64(Self.ratio)
        let earliest = self.start &+ Int64(reach)
        let first = earliest &+ (ratio &- (earliest % ratio + ratio) % ratio) % ratio
        var center = Int(first &- self.start)
        var samples: [Int16] = []
        samples.reserveCapacity(self.buffer.count / Self.ratio + 1)
        while center + reach < self.buffer.count {
            var sum: Float = 0
            for tap in 0...2 * reach { sum += self.buffer[center - reach + tap] * Self.weights[tap] }
            samples.append(Self.sample(sum))
            center += Self.ratio
        }
        let used = min(center - reach, self.buffer.count)
        if used > 0 {
            self.buffer.removeFirst(used)
            self.start &+= Int64(used)
        }
        return (first, samples)
    }

    /// Scales to 16 bits; samples outside -1…1 are limited, and those that are no number become 0.
    private static func sample(_ value: Float) -> Int16 {
        guard value.isFinite else { return 0 }
        return Int16(min(32_767, max(-32_768, (value * 32_767).rounded())))
    }
}
