import MediaKernels
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Meters: ITU-R BS.1770-4")
struct MeterBankTests {
    /// Mean square after the K-weighting, both channels added, in double precision.
    static func reference(_ audio: [Float]) -> Double {
        var total = 0.0
        for channel in 0..<2 {
            var (s1, s2, t1, t2) = (0.0, 0.0, 0.0, 0.0)
            for index in 0..<audio.count / 2 {
                let x = Double(audio[2 * index + channel])
                let y = 1.53512485958697 * x + s1
                s1 = -2.69169618940638 * x + 1.69065929318241 * y + s2
                s2 = 1.19839281085285 * x - 0.73248077421585 * y
                let z = y + t1
                t1 = -2 * y + 1.99004745483398 * z + t2
                t2 = y - 0.99007225036621 * z
                total += z * z
            }
        }
        return total / Double(audio.count / 2)
    }

    private func measure(_ bank: inout MeterBank, _ signals: [[Float]]) {
        let size = MeterBank.blockPairs * 2
        for start in stride(from: 0, to: signals[0].count - size + 1, by: size) {
            let blocks = signals.map { Array($0[start..<start + size]) }
            bank.measure(0, blocks[0], blocks.count > 1 ? 1 : nil, blocks.count > 1 ? blocks[1] : blocks[0])
        }
    }

    @Test("a 997 Hz tone of full scale in one channel reads −3.01 LUFS, and its peak is reported once")
    func calibration() {
        let audio = (0..<MeterBank.blockPairs * 150).flatMap { [Float(sin(2 * .pi * 997 * Double($0) / 48_000)), 0] }
        var bank = MeterBank(count: 1)
        self.measure(&bank, [audio])
        for blocks in [MeterBank.momentaryBlocks, MeterBank.shortTermBlocks] {
            let loudness = -0.691 + 10 * log10(Double(bank.power(0, blocks: blocks)))
            #expect(abs(loudness + 3.01) < 0.05, "\(loudness) LUFS")
        }
        let peak = bank.takePeak(0)
        #expect(peak > 0.99 && peak <= 1)
        #expect(bank.takePeak(0) == 0, "a peak is reported only once")
    }

    @Test(
        "two audio meters computed together show the power of plain filters within 0.1 %, and the exact peaks",
        arguments: 0..<10)
    func equalsReference(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let signals = (0..<2).map { _ -> [Float] in
            var last: Float = 0
            let color = Float.random(in: 0...0.99, using: &random)
            return (0..<MeterBank.blockPairs * 2 * 8).map { _ in
                last = color * last + (1 - color) * Float.random(in: -1...1, using: &random)
                return last
            }
        }
        var bank = MeterBank(count: 2)
        self.measure(&bank, signals)
        for index in 0..<2 {
            let expected = Self.reference(signals[index])
            #expect(abs(Double(bank.power(index, blocks: 8)) / expected - 1) < 1e-3)
            #expect(bank.takePeak(index) == signals[index].map { abs($0) }.max())
        }
    }

    @Test(
        "short blocks and meter numbers out of range do not trap, and an audio meter keeps its peak if its index changes"
    )
    func extremes() {
        var bank = MeterBank(count: 1)
        bank.measure(0, [1, 1])
        bank.measure(0, [])
        bank.measure(7, [1])
        bank.measure(0, [1, 1], 9, [1, 1])
        bank.measure(0, [1, 1], 0, [1, 1])
        bank.insert(at: 99)
        bank.insert(at: -4)
        #expect(bank.count == 3)
        #expect(bank.power(5, blocks: 3) == 0 && bank.power(0, blocks: -1) >= 0)
        #expect(bank.takePeak(1) == 1, "the first meter moved to index 1 when one was inserted before it")
    }

    @Test("after a tone and 400 blocks of silence the measured power is exactly 0, not a denormal number")
    func settles() {
        var bank = MeterBank(count: 1)
        let tone = (0..<MeterBank.blockPairs).flatMap { [Float(sin(Double($0))), Float(sin(Double($0)))] }
        bank.measure(0, tone)
        let silence = [Float](repeating: 0, count: tone.count)
        for _ in 0..<400 { bank.measure(0, silence) }
        #expect(bank.power(0, blocks: 1) == 0)
    }
}
