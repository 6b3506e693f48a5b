import MediaKernels
import TestSupport
import Testing

@Suite("Audio kernels against plain loops")
struct AudioMixTests {
    /// ``AudioMix/add(_:onto:pairs:from:to:)``, one pair at a time.
    static func reference(_ source: [Float], onto target: [Float], pairs: Range<Int>, from: Float, to: Float) -> [Float]
    {
        var result = target
        let step = (to - from) / Float(pairs.count)
        for (index, pair) in pairs.enumerated() {
            let gain = step * Float(index % 4) + (from + step * Float(index - index % 4))
            for channel in 0..<2 {
                result[2 * pair + channel] +=
                    source[2 * pair + channel] * (index < pairs.count & ~3 ? gain : from + step * Float(index))
            }
        }
        return result
    }

    @Test(
        "random ranges of audio are mixed with random gain ramps as by a plain loop, within 0.00001", arguments: 0..<40)
    func mixEqualsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let pairs = Int.random(in: 1...700, using: &random)
        let source = (0..<pairs * 2).map { _ in Float.random(in: -1...1, using: &random) }
        let target = (0..<pairs * 2).map { _ in Float.random(in: -1...1, using: &random) }
        let start = Int.random(in: 0..<pairs, using: &random)
        let range = start..<Int.random(in: start + 1...pairs, using: &random)
        let (from, to) = (Float.random(in: 0...2, using: &random), Float.random(in: 0...2, using: &random))
        var mixed = target
        AudioMix.add(source, onto: &mixed, pairs: range, from: from, to: to)
        let expected = Self.reference(source, onto: target, pairs: range, from: from, to: to)
        for index in mixed.indices { #expect(abs(mixed[index] - expected[index]) <= 1e-5, "float \(index)") }
        #expect(Array(mixed[..<(range.lowerBound * 2)]) == Array(target[..<(range.lowerBound * 2)]))
    }

    @Test("mixing audio clamps ranges outside the arrays, without a trap")
    func rangesAreClamped() {
        var target: [Float] = [1, 1, 1, 1]
        AudioMix.add([1, 1], onto: &target, pairs: -5..<99, from: 1, to: 1)
        #expect(target == [2, 2, 1, 1])
        AudioMix.add([], onto: &target, pairs: 0..<2, from: 1, to: 1)
        #expect(target == [2, 2, 1, 1])
    }

    @Test("the peak of random audio of up to 300 samples is its largest magnitude; NaN is ignored", arguments: 0..<30)
    func peakEqualsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        var samples = (0..<Int.random(in: 0...300, using: &random)).map { _ in Float.random(in: -3...3, using: &random)
        }
        if !samples.isEmpty, seed.isMultiple(of: 3) { samples[samples.count / 2] = .nan }
        let expected = samples.filter { !$0.isNaN }.map { abs($0) }.max() ?? 0
        #expect(samples.withUnsafeBufferPointer { unsafe AudioMix.peak($0) } == expected)
    }

    @Test("sanitizing audio turns NaN into 0 and clamps samples to ±8; all others stay bit for bit", arguments: 0..<30)
    func sanitizes(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let samples = (0..<Int.random(in: 0...200, using: &random)).map { _ -> Float in
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                [.nan, -.nan, .infinity, -.infinity, .signalingNaN, 3e38, -9][Int.random(in: 0..<7, using: &random)]
            case 1: Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random))
            default: Float.random(in: -2...2, using: &random)
            }
        }
        var clean = samples
        AudioMix.sanitize(&clean)
        for (before, after) in zip(samples, clean) {
            let expected = before.isNaN ? 0 : max(-8, min(8, before))
            #expect(after.bitPattern == expected.bitPattern, "\(before)")
        }
    }

    @Test(
        "joining audio fades from the last sample before to the new audio, and leaves later samples unchanged",
        arguments: [0, 1, 2, 100, 500])
    func joins(pairs: Int) {
        let samples = (0..<600).map { Float($0) / 1_000 }
        var joined = samples
        AudioMix.join(&joined, after: SIMD2(-0.5, 0.5), pairs: pairs)
        #expect(joined[(2 * min(300, pairs))...] == samples[(2 * min(300, pairs))...])
        guard pairs > 0 else { return }
        #expect(abs(joined[0] - (-0.5 + 0.5 / Float(min(300, pairs) + 1))) < 1e-6)
        #expect(abs(joined[1] - (0.5 - 0.499 / Float(min(300, pairs) + 1))) < 1e-6)
        var none: [Float] = [1]
        AudioMix.join(&none, after: SIMD2(0, 0), pairs: pairs)
        #expect(none == [1])
    }
}
