import KernelSuite
import MediaKernels
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Look-ahead true-peak limiter: ITU-R BS.1770-4 Annex 2")
struct LimiterTests {
    private func run(_ samples: [Float], ceiling: Float = 0.9) -> [Float] {
        var limiter = Limiter(ceiling: ceiling)
        var output = samples
        limiter.process(&output)
        return output
    }

    private func tone(_ hertz: Double, pairs: Int, level: Double, turn: Double = 0) -> [Float] {
        (0..<pairs).flatMap { index -> [Float] in
            let value = Float(level * sin(2 * .pi * (hertz * Double(index) / 48_000 + turn)))
            return [value, -value]
        }
    }

    @Test("the limiter passes audio below the ceiling bit for bit, delayed by the look-ahead")
    func quietIsUntouched() {
        var random = TestRandom(seed: 7)
        // No sum of the interpolator's weights exceeds 2.5.
        let noise = (0..<8_192).map { _ in Float.random(in: -0.36...0.36, using: &random) }
        let loud = self.tone(997, pairs: 4_096, level: 0.84)
        for input in [noise, loud] {
            let output = self.run(input, ceiling: 0.841_395)
            let delay = Limiter.latencyPairs * 2
            #expect(Array(output[delay...]) == Array(input[..<(input.count - delay)]))
            #expect(output[..<delay].allSatisfy { $0 == 0 })
        }
    }

    @Test(
        "for random audio the limiter's output equals that of a plain implementation within 0.00002", arguments: 0..<12)
    func equalsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        var input: [Float] = []
        while input.count < 12_288 {
            let level = Float.random(in: 0...3, using: &random)
            for _ in 0..<Int.random(in: 1...900, using: &random) {
                input.append(Float.random(in: -1...1, using: &random) * level)
            }
        }
        input.removeLast(input.count % 128)
        var plain = PlainLimiter(ceiling: 0.9)
        let expected = plain.processed(input)
        let output = self.run(input)
        for index in output.indices { #expect(abs(output[index] - expected[index]) < 2e-5, "float \(index)") }
    }

    @Test(
        "for random audio no sample of the limiter's output exceeds the ceiling of 0.9 by more than 0.0001",
        arguments: 0..<20)
    func neverAboveCeiling(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        var input: [Float] = []
        while input.count < 16_384 {
            let level = Float.random(in: 0...4, using: &random)
            for _ in 0..<Int.random(in: 1...600, using: &random) {
                input.append(Float.random(in: -1...1, using: &random) * level)
            }
        }
        input.removeLast(input.count % 128)
        let output = self.run(input)
        #expect(output.map { abs($0) }.max() ?? 0 <= 0.9001)
        #expect(output.map { abs($0) }.max() ?? 0 > 0.4, "a limiter that mutes would also pass")
    }

    @Test(
        "the limiter limits the sum of two full-scale tones to −4 to −1 dBTP, measured with sixteen-fold oversampling",
        arguments: 0..<24)
    func tonesStayBelow(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        // Up to 20 kHz; above, no microphone and no AAC encoder has full scale.
        let pitches =
            seed == 0 ? [12_000, 12_000] : (0..<2).map { _ in Double.random(in: 40...20_000, using: &random) }
        let a = self.tone(
            pitches[0], pairs: 9_600, level: 1, turn: seed == 0 ? 0.125 : .random(in: 0...1, using: &random))
        let b = self.tone(
            pitches[1], pairs: 9_600, level: 1, turn: seed == 0 ? 0.125 : .random(in: 0...1, using: &random))
        let output = self.run(zip(a, b).map { $0 + $1 }, ceiling: 0.841_395)
        let reading = TruePeakReading.decibels(output)
        #expect(reading < -1, "\(pitches): \(reading) dBTP")
        #expect(reading > -4, "\(pitches): \(reading) dBTP is more than limited")
    }

    /// Audio as an AAC encoder would leave it: nothing above 18.5 kHz.
    private func coded(_ audio: [Double]) -> [Double] {
        let weights = (-63...63).map { tap -> Double in
            let x = Double(tap) * 2 * 18_500 / 48_000
            let window = 0.5 + 0.5 * cos(Double.pi * Double(tap) / 64)
            return (x == 0 ? 1 : sin(Double.pi * x) / (Double.pi * x)) * window * 2 * 18_500 / 48_000
        }
        return (0..<audio.count - 126).map { place in
            (0..<127).reduce(0) { $0 + weights[$1] * audio[place + $1] }
        }
    }

    @Test(
        "the limited mix of two full-scale sources of noise, square waves or bursts stays below −1 dBTP",
        arguments: 0..<12)
    func harshAudioStaysBelow(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        func source() -> [Double] {
            var audio: [Double] = []
            var (held, left) = (1.0, 0)
            while audio.count < 9_726 {
                if left == 0 {
                    held = seed % 3 == 1 ? -held : [0.05, 1].randomElement(using: &random) ?? 1
                    left = Int.random(in: 3...900, using: &random)
                }
                left -= 1
                let noise = Double.random(in: -1...1, using: &random)
                audio.append(seed % 3 == 0 ? noise : seed % 3 == 1 ? held : held * noise)
            }
            let coded = self.coded(audio)
            let largest = coded.reduce(0) { max($0, abs($1)) }
            return coded.map { $0 / largest }
        }
        let input = zip(source(), source()).flatMap { [Float($0 + $1), Float($0 - $1)] }
        let reading = TruePeakReading.decibels(self.run(input, ceiling: 0.841_395))
        #expect(reading < -1, "\(reading) dBTP")
    }

    @Test("the limiter's gain returns to 1 when quiet audio follows a loud passage")
    func recovers() {
        let loud = [Float](repeating: 2, count: 12_800)
        let quiet = [Float](repeating: 0.25, count: 1_280_000)
        let output = self.run(loud + quiet)
        #expect(output[20_000] < 0.25)
        #expect(output.last == 0.25)
    }

    @Test("200 ms after a single peak the limiter's gain is above 0.92 again")
    func forgetsAPeak() {
        var input = [Float](repeating: 0.25, count: 96_000)
        input[20_000] = 1.8
        let output = self.run(input)
        // Half the reduction is gone in 60 ms: after 200 ms a tenth is left.
        #expect(output[20_000 + 19_200 + 512] > 0.25 * 0.92)
    }

    /// Gains in dB at the block ends while audio passes.
    private func gains(_ audio: [Float]) -> [Double] {
        var limiter = Limiter()
        return stride(from: 0, to: audio.count - 127, by: 128).map { start in
            var block = Array(audio[start..<start + 128])
            limiter.process(&block)
            return 20 * log10(Double(limiter.currentGain))
        }
    }

    @Test("the mix of two speech-like voices at full scale is limited without pumping")
    func speechDoesNotPump() {
        let a = SpeechLike.make(seconds: 12, pitch: 118, level: 1, seed: 1)
        let b = SpeechLike.make(seconds: 12, pitch: 207, level: 1, seed: 2)
        // After the first two seconds, in which the average settles.
        let gains = Array(self.gains(zip(a, b).map { $0 + $1 })[1_500...])
        let mean = gains.reduce(0, +) / Double(gains.count)
        let spread = (gains.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(gains.count)).squareRoot()
        // 75 blocks are 100 ms: how much the background would rise between two syllables.
        let rises = (0..<gains.count - 75).map { gains[$0 + 75] - gains[$0] }.sorted()
        #expect(mean < -0.1, "the mix must be loud enough for the test to mean anything: \(mean) dB")
        #expect(spread < 1, "the gain varies by \(spread) dB")
        #expect(rises[rises.count * 99 / 100] < 1.5, "rises by \(rises[rises.count * 99 / 100]) dB in 100 ms")
    }

    @Test("the limiter gives the same output for ten blocks per call as for all blocks in one call")
    func groupingDoesNotMatter() {
        var random = TestRandom(seed: 3)
        let input = (0..<12_800).map { _ in Float.random(in: -2...2, using: &random) }
        let whole = self.run(input)
        var limiter = Limiter(ceiling: 0.9)
        var pieces: [Float] = []
        for start in stride(from: 0, to: input.count, by: 1_280) {
            var piece = Array(input[start..<start + 1_280])
            limiter.process(&piece)
            pieces += piece
        }
        #expect(pieces == whole)
    }
}
