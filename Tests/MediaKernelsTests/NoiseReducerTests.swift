import KernelSuite
import MediaKernels
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("NoiseReducer: steady noise is lowered, the rest stays at its sample")
struct NoiseReducerTests {
    /// White noise with a click of 100 pairs each half second, left louder than right.
    private static func signal(seconds: Int, noise: Float) -> [Float] {
        var state: UInt32 = 9
        return (0..<seconds * 48_000).flatMap { pair -> [Float] in
            state = state &* 1_664_525 &+ 1_013_904_223
            let value = Float(state >> 8) / Float(1 << 24) - 0.5
            let audio = pair % 24_000 < 100 ? value : value * noise
            return [audio, audio / 2]
        }
    }

    private static func run(_ samples: [Float], blocks: [Int]) -> [Float] {
        let reducer = NoiseReducer()
        var (output, first, turn): ([Float], Int, Int) = ([], 0, 0)
        while first < samples.count {
            let end = min(samples.count, first + 2 * blocks[turn % blocks.count])
            reducer.process(Array(samples[first..<end]), into: &output)
            (first, turn) = (end, turn + 1)
        }
        return output
    }

    /// About three seconds of tones, noise, bursts and silence, in an order and with levels that depend on the seed.
    private static func mixed(seed: UInt64) -> [Float] {
        var random = TestRandom(seed: seed)
        var samples: [Float] = []
        let length = Int.random(in: 110_000...150_000, using: &random) * 2
        let floor = Float.random(in: 0.000_1...0.05, using: &random)
        while samples.count < length {
            let level = [0, floor, 0.2, 1, 4][Int.random(in: 0..<5, using: &random)]
            let pitch = Float.random(in: 40...8_000, using: &random)
            let balance = Float.random(in: 0...1, using: &random)
            let isNoise = Bool.random(using: &random)
            for pair in 0..<Int.random(in: 1...9_000, using: &random) {
                let tone =
                    isNoise ? Float.random(in: -1...1, using: &random) : sinf(2 * .pi * pitch * Float(pair) / 48_000)
                let noise = level == 0 ? 0 : Float.random(in: -floor...floor, using: &random)
                samples += [tone * level + noise, tone * level * balance + noise]
            }
        }
        return samples
    }

    @Test(
        "the noise reducer's output for random audio in random blocks equals that of a plain loop in double precision within 0.001",
        arguments: 0..<8)
    func equalsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed) + 100)
        let samples = Self.mixed(seed: UInt64(seed))
        let output = Self.run(samples, blocks: (0..<9).map { _ in Int.random(in: 1...2_000, using: &random) })
        var plain = PlainNoiseReducer()
        let expected = plain.processed(samples)
        #expect(output.count == expected.count)
        let worst = zip(output, expected).map { abs($0 - $1) }.max() ?? 1
        #expect(worst < 1e-3, "\(worst)")
    }

    @Test("the noise reducer yields the same output for any split into blocks, in steps of 512 pairs")
    func splits() {
        let samples = Self.signal(seconds: 1, noise: 0.01)
        let output = Self.run(samples, blocks: [1_024])
        #expect(output.count == samples.count / 1_024 * 1_024)
        #expect(Self.run(samples, blocks: [1, 511, 960, 3_000, 0]) == output)
    }

    @Test(
        "the noise reducer lowers noise by 10 dB and more within 3 s; a click comes out 512 pairs later with its level and its balance"
    )
    func noiseAndClicks() {
        let samples = Self.signal(seconds: 4, noise: 0.01)
        let output = Self.run(samples, blocks: [1_024])
        func power(_ samples: [Float], _ pairs: Range<Int>, _ channel: Int) -> Float {
            pairs.reduce(0) { $0 + samples[$1 * 2 + channel] * samples[$1 * 2 + channel] } / Float(pairs.count)
        }
        let noise = 3 * 48_000 + 6_000..<3 * 48_000 + 20_000
        #expect(power(output, noise, 0) < power(samples, noise, 0) / 10)
        let (click, late) = (3 * 48_000..<3 * 48_000 + 100, 3 * 48_000 + 512..<3 * 48_000 + 612)
        let ratio = power(output, late, 0) / power(samples, click, 0)
        #expect(ratio > 0.8 && ratio < 1.1, "\(ratio)")
        #expect(abs(power(output, late, 0) / power(output, late, 1) - 4) < 0.05)
    }

    @Test("the noise reducer keeps silence silent and huge samples finite")
    func extremes() {
        let silent = Self.run([Float](repeating: 0, count: 96_000), blocks: [1_024])
        #expect(silent.allSatisfy { $0 == 0 })
        let loud = Self.run((0..<96_000).map { $0 % 7 == 0 ? 8 : -8 }, blocks: [1_024])
        #expect(loud.allSatisfy { $0.isFinite && abs($0) < 40 })
    }
}
