import MediaTypes
import Program
import Testing

@Suite("Audio blocks of a source placed on the sample grid")
struct AudioPlacementTests {
    private let block = [Float](repeating: 0.25, count: 2_048)

    private func placement() -> AudioPlacement { AudioPlacement(sampleRate: 48_000, limitPPB: 1_000_000) }

    @Test(
        "audio timestamps rounded to milliseconds cause no break after the first block, and change the speed by at most 150 ppm"
    )
    func wholeMilliseconds() {
        var placement = self.placement()
        var seams = 0
        var end: Int64?
        var ratios: [Int] = []
        for index in Int64(0)..<2_000 {
            let ms = index * 1_024 * 1_000 / 48_000
            placement.place(self.block, at: ms * 48, isRemapped: false) { samples, at, hasSeam in
                if hasSeam { seams += 1 }
                if let end { #expect(at == end) }
                end = at + Int64(samples.count / 2)
            }
            ratios.append(placement.ratio)
        }
        #expect(seams == 1)
        #expect(ratios.allSatisfy { abs($0) <= 150_000 })
    }

    @Test(
        "audio follows a timestamp step of 100 ms with a break at once, of 30 ms within 4 blocks, of 18 ms within 140; 4 ms cause no break",
        arguments: [(100, 1...1), (30, 1...4), (18, 1...140), (4, 0...0)])
    func steps(ms: Int64, blocks: ClosedRange<Int>) {
        var placement = self.placement()
        var seam: Int?
        for index in 0..<400 {
            let shift = index >= 200 ? ms * 48 : 0
            placement.place(self.block, at: Int64(index) * 1_024 + shift, isRemapped: false) { _, _, hasSeam in
                if hasSeam, index > 0, seam == nil { seam = index - 199 }
            }
        }
        #expect(blocks.contains(seam ?? 0), "\(seam ?? 0)")
    }

    @Test("when a source's timeline is mapped anew, its next audio block moves by the same amount")
    func remapped() {
        var placement = self.placement()
        var positions: [Int64] = []
        for index in 0..<4 {
            let shift: Int64 = index >= 2 ? -960 : 0
            placement.place(self.block, at: Int64(index) * 1_024 + shift, isRemapped: index == 2) { _, at, _ in
                positions.append(at)
            }
        }
        #expect(zip(positions, positions.dropFirst()).map { $1 - $0 } == [1_024, 64, 1_024])
    }

    @Test("audio blocks at the positions Int64.max and Int64.min do not trap", arguments: [Int64.max, .min, 0])
    func extremes(position: Int64) {
        var placement = self.placement()
        for value in [0, position, 0 &- position] {
            placement.place(self.block, at: value, isRemapped: false) { samples, _, _ in
                #expect(samples.count <= 2_060)
            }
        }
    }
}

@Suite("Live audio starts and ends with fades")
struct AudioFadeTests {
    private func pairs(_ count: Int, _ value: Float) -> [Float] { [Float](repeating: value, count: count * 2) }

    private func take(_ ring: inout AudioRing, _ range: Range<Int64>) -> [Float] {
        var target = [Float](repeating: 9, count: range.count * 2)
        _ = ring.take(range, into: &target)
        return stride(from: 0, to: target.count, by: 2).map { target[$0] }
    }

    @Test("audio fades out when it runs out and fades in when it returns")
    func starves() {
        var ring = AudioRing(fade: 4)
        ring.write(self.pairs(12, 1), at: 0)
        #expect(self.take(&ring, 0..<8) == [0, 0.25, 0.5, 0.75, 1, 1, 1, 1])
        #expect(self.take(&ring, 8..<16) == [1, 0.75, 0.5, 0.25, 0, 0, 0, 0])
        ring.write(self.pairs(12, 1), at: 16, restart: true)
        #expect(self.take(&ring, 16..<24) == [0, 0.25, 0.5, 0.75, 1, 1, 1, 1])
    }

    @Test("audio that returns in the middle of a block fades in where it starts", arguments: [0, 1, 3, 8, 9])
    func risesInMidBlock(at offset: Int64) {
        var ring = AudioRing(fade: 4)
        ring.write(self.pairs(16, 1), at: 0)
        _ = self.take(&ring, 0..<16)
        #expect(self.take(&ring, 16..<32) == [1, 0.75, 0.5, 0.25].map { $0 - 0.25 } + [Float](repeating: 0, count: 12))
        // Two blocks, the first one shorter than the fade.
        ring.write(self.pairs(3, 1), at: 32 + offset, restart: true)
        ring.write(self.pairs(40, 1), at: 35 + offset)
        let heard = self.take(&ring, 32..<48) + self.take(&ring, 48..<64)
        let silence = [Float](repeating: 0, count: Int(offset))
        #expect(heard == Array((silence + [0, 0.25, 0.5, 0.75] + [Float](repeating: 1, count: 40)).prefix(32)))
    }

    @Test("audio placed before all queued audio replaces it with a fade-in, and later audio continues from it")
    func takesBackAll() {
        var ring = AudioRing(fade: 4)
        ring.write(self.pairs(8_000, 0.5), at: 10_000)
        ring.write(self.pairs(1_000, 1), at: 5_000, restart: true)
        #expect(ring.start == 5_000 && ring.end == 6_000)
        for block in Int64(6)..<12 { ring.write(self.pairs(1_000, 1), at: block * 1_000) }
        #expect(ring.end == 12_000)
        #expect(self.take(&ring, 10_000..<10_008) == [0, 0.25, 0.5, 0.75, 1, 1, 1, 1])
    }

    @Test("audio that replaces queued audio is crossfaded at its first sample")
    func crossesOver() {
        var ring = AudioRing(fade: 4)
        ring.write(self.pairs(10, 0), at: 0)
        ring.write(self.pairs(8, 1), at: 4, restart: true)
        #expect(ring.end == 12)
        #expect(self.take(&ring, 0..<12) == [0, 0, 0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1, 1])
    }

    @Test("audio placed before the position already played is crossfaded at that position")
    func crossesOverBehind() {
        var ring = AudioRing(fade: 4)
        ring.write(self.pairs(16, 0.5), at: 0)
        #expect(self.take(&ring, 0..<8) == [0, 0.125, 0.25, 0.375, 0.5, 0.5, 0.5, 0.5])
        ring.write(self.pairs(16, 1), at: 2, restart: true)
        #expect(self.take(&ring, 8..<16) == [0.5, 0.625, 0.75, 0.875, 1, 1, 1, 1])
    }

    @Test("if too little audio is left before a gap, the fade-out continues into the gap", arguments: [8, 10])
    func diesAwayInTheGap(count: Int) {
        var ring = AudioRing(fade: 4)
        ring.write(self.pairs(count, 0.5), at: 0)
        #expect(Array(self.take(&ring, 0..<8).suffix(4)) == [0.5, 0.5, 0.5, 0.5])
        ring.write(self.pairs(8, 1), at: 2_000)
        let rest = [Float](repeating: 0.5, count: count - 8) + [0.375, 0.25, 0.125, 0, 0, 0, 0, 0]
        #expect(self.take(&ring, 8..<16) == Array(rest.prefix(8)))
        #expect(self.take(&ring, 1_996..<2_008) == [0, 0, 0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1, 1])
    }
}
