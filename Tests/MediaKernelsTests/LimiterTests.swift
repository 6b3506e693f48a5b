import MediaKernels
import Testing

@Suite("Look-ahead limiter")
struct LimiterTests {
    private func run(_ samples: [Float], ceiling: Float = 0.9) -> [Float] {
        var limiter = Limiter(ceiling: ceiling)
        var output = samples
        limiter.process(&output)
        return output
    }

    @Test("quiet sound leaves bit for bit, later by the look-ahead")
    func quietIsUntouched() {
        var random = TestRandom(seed: 7)
        let input = (0..<8_192).map { _ in Float.random(in: -0.89...0.89, using: &random) }
        let output = self.run(input)
        let delay = Limiter.latencyPairs * 2
        #expect(Array(output[delay...]) == Array(input[..<(input.count - delay)]))
        #expect(output[..<delay].allSatisfy { $0 == 0 })
    }

    @Test("no sample leaves above the ceiling, whatever comes", arguments: 0..<20)
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
        #expect(output.map { abs($0) }.max() ?? 0 > 0.5, "a limiter that mutes would pass too")
    }

    @Test("after a loud passage the gain comes back")
    func recovers() {
        let loud = [Float](repeating: 2, count: 12_800)
        let quiet = [Float](repeating: 0.25, count: 128_000)
        let output = self.run(loud + quiet)
        #expect(output[20_000] < 0.25)
        #expect(abs((output.last ?? 0) - 0.25) < 0.005)
    }

    @Test("blocks of any grouping give the same output")
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
