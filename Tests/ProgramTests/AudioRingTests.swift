import MediaKernels
import MediaTypes
import Program
import Testing

@Suite("AudioRing: a source's audio on the program's sample grid")
struct AudioRingTests {
    private func pairs(_ count: Int, _ value: Float) -> [Float] { [Float](repeating: value, count: count * 2) }

    private func read(_ ring: AudioRing, _ range: Range<Int64>) -> [Float] {
        var target = [Float](repeating: 9, count: range.count * 2)
        _ = ring.read(range, into: &target)
        return stride(from: 0, to: target.count, by: 2).map { target[$0] }
    }

    @Test("an audio block placed less than a millisecond after the end of the audio before it is joined without a gap")
    func jitterIsJoined() {
        var ring = AudioRing()
        ring.write(self.pairs(4, 1), at: 1_000)
        #expect(ring.write(self.pairs(4, 2), at: 1_030) == 1_004)
        #expect(self.read(ring, 998..<1_010) == [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0])
    }

    @Test(
        "in a ring without fades, a gap in a source's audio becomes silence, and an overlap keeps the samples queued first"
    )
    func gapsAndOverlaps() {
        var ring = AudioRing()
        ring.write(self.pairs(4, 1), at: 0)
        ring.write(self.pairs(2, 2), at: 4_000)
        #expect(self.read(ring, 3_998..<4_003) == [0, 0, 2, 2, 0])
        ring.write(self.pairs(6, 3), at: 3_999, restart: true)
        #expect(self.read(ring, 3_999..<4_006) == [0, 2, 2, 3, 3, 3, 0])
    }

    @Test("audio that ends fades out, wherever in a block it ends", arguments: [0, 1, 300, 1_023])
    func endFades(rest: Int) {
        var ring = AudioRing(fade: 240)
        ring.write(self.pairs(2_048 + rest, 0.5), at: 0)
        var heard: [Float] = []
        for block in 0..<4 {
            var target = [Float](repeating: 9, count: 2_048)
            _ = ring.take(Int64(block) * 1_024..<Int64(block + 1) * 1_024, into: &target)
            heard += stride(from: 0, to: target.count, by: 2).map { target[$0] }
        }
        #expect(heard[1_000] == 0.5)
        // 0.5 in 240 steps, which is no audible click.
        let steps = zip(heard.dropFirst(300), heard.dropFirst(301)).map { abs($0 - $1) }
        #expect(steps.allSatisfy { $0 <= 0.5 / 239 }, "largest step \(steps.max() ?? 0)")
        #expect(heard.suffix(700).allSatisfy { $0 == 0 })
    }

    @Test(
        "audio at distant, negative and huge positions never traps the audio ring",
        arguments: [Int64.min / 2, -1, 0, 1 << 40, Int64.max / 2])
    func extremes(position: Int64) {
        var ring = AudioRing()
        ring.write(self.pairs(8, 1), at: position)
        ring.write(self.pairs(8, 1), at: 0 &- position)
        #expect(self.read(ring, 5..<6).count == 1)
    }

    @Test("audio placed far ahead by a wrong timestamp is replaced when audio for an earlier position arrives")
    func farAhead() {
        var ring = AudioRing(fade: 4)
        ring.write(self.pairs(1_024, 1), at: 0, restart: true)
        ring.write(self.pairs(1_024, 2), at: 100_000_000, restart: true)
        #expect(ring.write(self.pairs(1_024, 3), at: 2_048, restart: true) == 2_048)
        ring.write(self.pairs(1_024, 4), at: 3_072)
        #expect(self.read(ring, 2_048..<2_050) == [3, 3] && self.read(ring, 3_072..<3_074) == [4, 4])
        #expect(ring.start == 2_048 && ring.end == 4_096)
        var target = [Float](repeating: 9, count: 2_048)
        _ = ring.take(2_048..<3_072, into: &target)
        ring.write(self.pairs(1_024, 5), at: 1_024, restart: true)
        #expect(self.read(ring, 3_072..<3_074) == [4, 4], "audio that is too late removes nothing")
        // Audio after it is heard, and is right.
        ring.write(self.pairs(1_024, 6), at: 2_048)
        ring.write(self.pairs(1_024, 7), at: 3_072)
        #expect(self.read(ring, 3_076..<3_078) == [7, 7] && ring.end == 4_096)
    }

    @Test("the audio ring keeps at most its capacity and drops the oldest samples")
    func capacity() {
        var ring = AudioRing()
        for block in 0..<300 { ring.write(self.pairs(1_024, Float(block)), at: Int64(block) * 1_024) }
        #expect(ring.end - ring.start == Int64(AudioRing.capacity))
        #expect(self.read(ring, 0..<2) == [0, 0])
        #expect(self.read(ring, 299 * 1_024..<299 * 1_024 + 1) == [299])
    }
}

@Suite("The audio mixer: gains at exact samples, limited sum")
struct MixerTests {
    private let a = SourceID(uid: "a"), b = SourceID(uid: "b")

    @Test("a gain ramp is a straight line that starts at the current gain")
    func ramp() {
        var ramp = GainRamp(0)
        ramp.move(to: 1, at: 100, over: 10)
        #expect(ramp.value(at: 99) == 0 && ramp.value(at: 105) == 0.5 && ramp.value(at: 110) == 1)
        ramp.move(to: 0, at: 105, over: 10)
        #expect(ramp.value(at: 105) == 0.5 && ramp.value(at: 110) == 0.25 && ramp.value(at: 200) == 0)
    }

    @Test("the mixer's output is the sum of the sources, each times its gain")
    func sum() {
        var mixer = AudioMixer(start: 0, rampPairs: 1)
        mixer.setGain(0.5, of: self.a, at: 0)
        mixer.setGain(1, of: self.b, at: 0)
        var blocks: [[Float]] = []
        for _ in 0..<4 {
            blocks.append(
                mixer.nextBlock { source, _, target in
                    for index in target.indices { target[index] = source == self.a ? 0.4 : 0.1 }
                    return target.count / 2
                })
        }
        #expect(mixer.position == 4_096)
        #expect(blocks.allSatisfy { $0.count == 2_048 })
        #expect(abs(blocks[2][1_000] - 0.3) < 1e-6)
        mixer.setGain(0, of: self.b, at: 4_096 + 256)
        _ = mixer.nextBlock { _, _, target in
            for index in target.indices { target[index] = 0.1 }
            return target.count / 2
        }
        let after = mixer.nextBlock { source, _, target in
            for index in target.indices { target[index] = source == self.a ? 0.4 : 0.1 }
            return target.count / 2
        }
        #expect(abs(after[2_000] - 0.2) < 1e-6)
    }

    @Test("a source that fades out counts as heard until it is silent")
    func heardWhileFading() {
        var mixer = AudioMixer(start: 0, rampPairs: 4_096)
        mixer.setGain(1, of: self.a, at: 0)
        mixer.setGain(0, of: self.b, at: 0)
        func heard() -> Set<SourceID> {
            var presence = SourceVisibility()
            mixer.noteHeard(in: &presence)
            return presence.heard
        }
        for _ in 0..<5 { _ = mixer.nextBlock { _, _, _ in 0 } }
        #expect(heard() == [self.a])
        mixer.setGain(0, of: self.a, at: 0)
        for _ in 0..<3 { _ = mixer.nextBlock { _, _, _ in 0 } }
        #expect(heard() == [self.a], "it is fading out")
        for _ in 0..<2 { _ = mixer.nextBlock { _, _, _ in 0 } }
        #expect(heard().isEmpty)
    }

    @Test("the limiter's look-ahead does not shift the audio")
    func isAligned() {
        var mixer = AudioMixer(start: 0, rampPairs: 1)
        mixer.setGain(1, of: self.a, at: -10)
        var heard: [Float] = []
        for _ in 0..<4 {
            heard += mixer.nextBlock { _, range, target in
                for (index, position) in range.enumerated() where position == 2_500 { target[2 * index] = 0.7 }
                return target.count / 2
            }
        }
        #expect(heard.firstIndex(of: 0.7) == 5_000)
    }

    @Test("a mixer whose program starts inside an audio block starts at the next whole block")
    func startsOnGrid() {
        #expect(AudioMixer(start: 1_600, rampPairs: 1).position == 2_048)
        #expect(AudioMixer(start: 102_400, rampPairs: 1).position == 102_400)
    }
}
