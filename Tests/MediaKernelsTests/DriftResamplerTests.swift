import MediaKernels
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Resampler that compensates clock drift")
struct DriftResamplerTests {
    /// The resampler's ideal output: the audio at exact positions, by a sinc four times as long, in double precision.
    static func reference(_ input: [Float], partsPerBillion: Int, outputPairs: Int) -> [Double] {
        let (reach, beta) = (48.0, 12.0)
        func bessel(_ x: Double) -> Double {
            (1...80).reduce((1.0, 1.0)) {
                ($0.0 * x * x / 4 / Double($1 * $1), $0.1 + $0.0 * x * x / 4 / Double($1 * $1))
            }.1
        }
        let pairs = input.count / 2
        return (0..<outputPairs).flatMap { index -> [Double] in
            // Exact: both factors are integers.
            let place =
                Double(index) * 1e9 / Double(1_000_000_000 + partsPerBillion) - Double(DriftResampler.latencyPairs)
            var sums = [0.0, 0.0]
            for sample in max(0, Int((place - reach).rounded(.up)))..<max(0, min(pairs, Int(place + reach))) {
                let x = Double(sample) - place
                let window = bessel(beta * (1 - x * x / reach / reach).squareRoot()) / bessel(beta)
                let weight = x == 0 ? 1 : sin(.pi * x) / (.pi * x) * window
                sums[0] += weight * Double(input[2 * sample])
                sums[1] += weight * Double(input[2 * sample + 1])
            }
            return sums
        }
    }

    private func tone(_ hertz: Double, pairs: Int) -> [Float] {
        (0..<pairs).flatMap { index -> [Float] in
            let turn = hertz * Double(index) / 48_000
            return [Float(0.9 * sin(2 * .pi * turn)), Float(0.9 * cos(2 * .pi * turn))]
        }
    }

    @Test(
        "a resampled tone differs from the ideal tone by an error more than 80 dB below it",
        arguments: [50.0, 997, 4_000, 9_973, 13_000, 15_990],
        [-2_000_000, -500_000, -37_000, 0, 1, 12_345, 500_000, 2_000_000])
    func toneIsClean(hertz: Double, partsPerBillion: Int) {
        var resampler = DriftResampler()
        var output: [Float] = []
        resampler.process(self.tone(hertz, pairs: 24_000), into: &output, partsPerBillion: partsPerBillion)
        var (signal, noise) = (0.0, 0.0)
        for index in 200..<output.count / 2 {
            let place =
                Double(index) * 1e9 / Double(1_000_000_000 + partsPerBillion) - Double(DriftResampler.latencyPairs)
            let turn = 2 * .pi * hertz * place / 48_000
            for (channel, ideal) in [0.9 * sin(turn), 0.9 * cos(turn)].enumerated() {
                let error = Double(output[2 * index + channel]) - ideal
                signal += ideal * ideal
                noise += error * error
            }
        }
        #expect(10 * log10(signal / noise) > 80, "\(10 * log10(signal / noise)) dB")
    }

    @Test(
        "away from both ends, resampled blocks of random lengths equal a plain sinc interpolation within 0.0002",
        arguments: 0..<24)
    func equalsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let pairs = Int.random(in: 1...3_000, using: &random)
        let ratio = Int.random(in: -600_000...600_000, using: &random)
        // Noise without its highest octave: five samples averaged with binomial weights.
        let noise = (0..<(pairs + 8) * 2).map { _ in Float.random(in: -1...1, using: &random) }
        let weights: [Float] = [0.0625, 0.25, 0.375, 0.25, 0.0625]
        let input = (0..<pairs * 2).map { index in (0..<5).reduce(Float(0)) { $0 + noise[index + 2 * $1] * weights[$1] }
        }
        var resampler = DriftResampler()
        var (output, piece): ([Float], [Float]) = ([], [])
        var start = 0
        while start < pairs {
            let count = min(pairs - start, Int.random(in: 0...1_500, using: &random))
            let expected = resampler.outputPairs(for: count, partsPerBillion: ratio)
            resampler.process(Array(input[2 * start..<2 * (start + count)]), into: &piece, partsPerBillion: ratio)
            #expect(piece.count == expected * 2)
            output += piece
            start += count
        }
        let exact = (Double(pairs) * Double(1_000_000_000 + ratio) / 1e9).rounded(.up)
        #expect(output.count / 2 == Int(exact))
        let expected = Self.reference(input, partsPerBillion: ratio, outputPairs: output.count / 2)
        // The start and the end are edges in the audio, around which a longer sinc rings longer.
        for index in min(120, output.count)..<max(min(120, output.count), output.count - 120) {
            #expect(abs(Double(output[index]) - expected[index]) < 2e-4, "float \(index) of \(output.count)")
        }
    }

    @Test("without drift the resampler's output is its input, bit for bit, delayed by the latency")
    func zeroIsADelay() {
        var random = TestRandom(seed: 5)
        let input = (0..<10_000).map { _ in Float.random(in: -1...1, using: &random) }
        var resampler = DriftResampler()
        var output: [Float] = []
        resampler.process(input, into: &output, partsPerBillion: 0)
        let delay = DriftResampler.latencyPairs * 2
        #expect(output.count == input.count)
        #expect(Array(output[delay...]) == Array(input[..<(input.count - delay)]))
        #expect(output[..<delay].allSatisfy { $0 == 0 })
    }

    @Test(
        "ten minutes of resampled constant audio have exactly the right number of sample pairs, and stay constant",
        arguments: [500_000, -500_000, 123_457, -1])
    func doesNotDrift(partsPerBillion: Int) {
        var resampler = DriftResampler()
        let block = [Float](repeating: 0.5, count: 96_000)
        var output: [Float] = []
        output.reserveCapacity(100_000)
        var pairs = 0
        for _ in 0..<600 {
            resampler.process(block, into: &output, partsPerBillion: partsPerBillion)
            pairs += output.count / 2
        }
        let scale = 1_000_000_000 + partsPerBillion
        #expect(pairs == (600 * 48_000 * scale + 999_999_999) / 1_000_000_000)
        #expect(output.allSatisfy { abs($0 - 0.5) < 1e-5 })
    }

    @Test("a resampling ratio that changes with every block causes no click in a tone")
    func changesAreSmooth() {
        var random = TestRandom(seed: 11)
        let input = self.tone(440, pairs: 96_000)
        var resampler = DriftResampler()
        var (output, piece): ([Float], [Float]) = ([], [])
        var start = 0
        while start < 96_000 {
            let count = min(96_000 - start, Int.random(in: 1...1_024, using: &random))
            resampler.process(
                Array(input[2 * start..<2 * (start + count)]), into: &piece,
                partsPerBillion: Int.random(in: -500_000...500_000, using: &random))
            output += piece
            start += count
        }
        // The second difference of a 440 Hz tone of 0.9 is at most 0.9 × (2π × 440 / 48000)² = 0.00299.
        for index in stride(from: 100, to: output.count - 4, by: 1) {
            let bend = output[index] - 2 * output[index + 2] + output[index + 4]
            #expect(abs(bend) < 0.0031, "float \(index)")
        }
    }

    @Test(
        "the largest and smallest resampling ratios are clamped without a trap, and a reset resampler works like a new one"
    )
    func resetAndExtremes() {
        var resampler = DriftResampler()
        var output: [Float] = []
        for ratio in [Int.min, -1, 0, 1, Int.max] {
            resampler.process([1, 1, 1, 1, 1], into: &output, partsPerBillion: ratio)
            #expect(output.count <= 6)
        }
        resampler.reset()
        var fresh = DriftResampler()
        var other: [Float] = []
        let input = self.tone(1_000, pairs: 700)
        resampler.process(input, into: &output, partsPerBillion: 77_777)
        fresh.process(input, into: &other, partsPerBillion: 77_777)
        #expect(output == other)
        resampler.process([], into: &output, partsPerBillion: 5)
        #expect(output.isEmpty)
    }
}
