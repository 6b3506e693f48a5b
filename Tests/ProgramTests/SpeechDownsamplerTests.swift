import Foundation
import Program
import Testing

@Suite("SpeechDownsampler: 48 kHz stereo to 16 kHz mono")
struct SpeechDownsamplerTests {
    /// Converts a tone in blocks of 1,024 sample pairs.
    private static func tone(_ hertz: Double, from start: Int64 = 0, blocks: Int = 20) -> [(Int64, [Int16])] {
        var filter = SpeechDownsampler()
        return (0..<Int64(blocks)).map { block in
            let position = start + block * 1_024
            let samples = (0..<Int64(1_024)).flatMap { pair -> [Float] in
                let value = Float(0.5 * sin(2 * .pi * hertz * Double(position + pair) / 48_000))
                return [value, value]
            }
            let made = filter.convert(samples, at: position)
            return (made.position, made.samples)
        }
    }

    @Test(
        "the downsampler's blocks follow each other without a gap, at positions that are multiples of 3",
        arguments: [0, 1, 2, 48_000_001])
    func positions(start: Int64) {
        var expected: Int64?
        for (position, samples) in Self.tone(1_000, from: start) {
            #expect(position % 3 == 0 && position >= start && (expected ?? position) == position)
            expected = position + Int64(samples.count) * 3
        }
        #expect((expected ?? 0) > start + 20 * 1_024 - 60)
    }

    @Test("the downsampler keeps the phase and level of a tone of 1 kHz, and removes one of 10 kHz")
    func response() {
        for (position, samples) in Self.tone(1_000).dropFirst() {
            for (index, sample) in samples.enumerated() {
                let time = Double(position + Int64(index) * 3) / 48_000
                #expect(abs(Double(sample) - 0.5 * 32_767 * sin(2 * .pi * 1_000 * time)) < 20)
            }
        }
        let high = Self.tone(10_000).dropFirst().flatMap(\.1).map { abs(Int($0)) }.max() ?? .max
        #expect(high < 60)
    }

    @Test(
        "the downsampler limits samples that are too loud, makes NaN silence, and continues at the new position after a gap"
    )
    func limits() {
        var filter = SpeechDownsampler()
        let loud = filter.convert([Float](repeating: 9, count: 2_048), at: 0)
        #expect(loud.samples.last == 32_767)
        let broken = filter.convert([Float](repeating: .nan, count: 2_048), at: 1_024)
        #expect(broken.samples.last == 0)
        let later = filter.convert([Float](repeating: 0, count: 2_048), at: 9_000)
        #expect(later.position == 9_000 && later.samples.allSatisfy { $0 == 0 })
    }
}
