import MediaKernels
import MediaTypes
import Program
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("The audio mixer: volume, ducking, levels")
struct MixerAudioTests {
    private let anchor = SourceID(uid: "anchor"), guest = SourceID(uid: "guest")

    private func value(_ source: SourceID, _ target: inout [Float], _ left: Float) -> Int {
        for index in target.indices { target[index] = left }
        return target.count / 2
    }

    @Test(
        "a mute begins at its sample and fades to silence within 20 ms",
        arguments: [0, 1, 777, 1_023])
    func muteIsSampleAccurate(offset: Int64) {
        var mixer = AudioMixer(start: 0, rampPairs: 960)
        mixer.setGain(1, of: self.anchor, at: 0)
        let mute = 3 * 1_024 + offset
        var heard: [Float] = []
        for block in 0..<8 {
            // Set in time, before the mix has reached it.
            if block == 1 { mixer.setGain(0, of: self.anchor, at: mute) }
            heard += mixer.nextBlock { self.value($0, &$2, 0.5) }
        }
        let left = stride(from: 0, to: heard.count, by: 2).map { heard[$0] }
        #expect(left[960..<Int(mute)].allSatisfy { $0 == 0.5 })
        #expect(left[Int(mute) + 1] < 0.5)
        #expect(left[(Int(mute) + 960)...].allSatisfy { $0 == 0 })
        for (a, b) in zip(left, left.dropFirst()) { #expect(abs(a - b) < 0.5 / 960 * 1.01) }
    }

    @Test("a volume of 200 % doubles the amplitude, and the limiter keeps audio that is then too loud below 0.8914")
    func doubleVolume() {
        var mixer = AudioMixer(start: 0, rampPairs: 1)
        mixer.setGain(2, of: self.anchor, at: -10)
        var block: [Float] = []
        for _ in 0..<4 { block = mixer.nextBlock { self.value($0, &$2, 0.25) } }
        #expect(block.allSatisfy { $0 == 0.5 })
        for _ in 0..<4 { block = mixer.nextBlock { self.value($0, &$2, 0.75) } }
        #expect(block.allSatisfy { $0 < 0.8914 && $0 > 0.8 })
    }

    @Test(
        "a block of NaN samples from one source is silence: the other source is mixed and measured unchanged, before and after it"
    )
    func notNumbers() {
        var mixer = AudioMixer(start: 0, rampPairs: 1, measures: true)
        for source in [self.anchor, self.guest] { mixer.setGain(1, of: source, at: -10) }
        var heard: [Float] = []
        // In pairs. The mixer reads ahead of what it returns, because the limiter looks ahead.
        var bad: Range<Int64> = 0..<0
        for block in 0..<8 {
            heard += mixer.nextBlock { source, range, target in
                if block == 2, source == self.guest { bad = range }
                return self.value(source, &target, source == self.anchor ? 0.125 : block == 2 ? .nan : 0.25)
            }
        }
        #expect(bad.count == 1_024 && bad.lowerBound >= 2_048)
        // The first pair is on the ramp of the gains.
        let wrong = heard.indices.dropFirst(2).filter { heard[$0] != (bad.contains(Int64($0 / 2)) ? 0.125 : 0.375) }
        #expect(wrong.isEmpty, "\(wrong.prefix(4)) \(wrong.prefix(4).map { heard[$0] }), \(bad)")
        let levels = mixer.levels()
        #expect(abs((levels.sources[self.anchor]?.peak ?? 0) + 18_062) < 20)
        #expect(abs((levels.sources[self.guest]?.peak ?? 0) + 12_041) < 20)
        #expect(levels.program.peak > -9_000)
    }

    @Test(
        "infinite samples of one source are limited to ±8: the mix stays finite, and later has the level of the other source again",
        arguments: [Float.infinity, -.infinity])
    func infinite(sample: Float) {
        var mixer = AudioMixer(start: 0, rampPairs: 1, measures: true)
        for source in [self.anchor, self.guest] { mixer.setGain(1, of: source, at: -10) }
        var heard: [[Float]] = []
        for block in 0..<300 {
            heard.append(
                mixer.nextBlock { source, range, target in
                    if source == self.guest { return self.value(source, &target, block == 2 ? sample : 0) }
                    return self.tone(range, &target, 0.25)
                })
        }
        #expect(heard.joined().allSatisfy { $0.isFinite && abs($0) < 0.8914 })
        // The limiter's gain returns to 1, so the tone is again what it is without the guest.
        #expect(abs((heard[299].max() ?? 0) - 0.25) < 0.002, "\(heard[299].max() ?? 0)")
        let levels = mixer.levels()
        #expect(abs((levels.sources[self.anchor]?.peak ?? 0) + 12_041) < 20)
        #expect(abs((levels.sources[self.anchor]?.shortTerm ?? 0) + 12_041) < 60)
        #expect(levels.sources[self.guest]?.shortTerm == AudioLevels.Level.floor, "three seconds without its samples")
    }

    @Test(
        "the mixer drops a removed source after its fade-out, without effect on the other sources"
    )
    func leaves() {
        var (mixer, alone) = (
            AudioMixer(start: 0, rampPairs: 960, measures: true), AudioMixer(start: 0, rampPairs: 960)
        )
        mixer.add(MixerChannel(self.guest))
        mixer.add(MixerChannel(self.guest))
        for source in [self.anchor, self.guest] { mixer.setGain(1, of: source, at: 0) }
        alone.setGain(1, of: self.anchor, at: 0)
        var heard: [Float] = []
        var gone: Int?
        for block in 0..<16 {
            if block == 4 { mixer.setGain(0, of: self.guest, at: mixer.position) }
            if gone == nil, mixer.remove(self.guest) { gone = block }
            let both = mixer.nextBlock { self.value($0, &$2, $0 == self.guest ? 0.25 : 0.125) }
            heard += both
            let one = alone.nextBlock { self.value($0, &$2, 0.125) }
            if block > 6 { #expect(both == one) }
        }
        #expect(gone == 5, "a ramp of 20 ms is in the block before")
        let isGone = mixer.remove(self.guest)
        #expect(isGone, "no source has that name")
        let left = mixer.levels().sources
        #expect(Set(left.keys) == [self.anchor])
        let samples = stride(from: 0, to: heard.count, by: 2).map { heard[$0] }
        for (a, b) in zip(samples, samples.dropFirst()) { #expect(abs(a - b) < 0.375 / 960 * 1.01) }
        // A source that returns starts in silence.
        mixer.add(MixerChannel(self.guest))
        let back = mixer.nextBlock { self.value($0, &$2, $0 == self.guest ? 0.25 : 0.125) }
        #expect(back.allSatisfy { $0 == 0.125 })
        let both = mixer.levels().sources
        #expect(Set(both.keys) == [self.anchor, self.guest])
    }

    @Test("the main and sub stream of one uid are mixed as two sources")
    func twoStreamsOfOneUser() {
        let screen = SourceID(uid: "anchor", streamType: .sub)
        var mixer = AudioMixer(start: 0, rampPairs: 1)
        mixer.setGain(1, of: self.anchor, at: -10)
        mixer.setGain(0.5, of: screen, at: -10)
        var block: [Float] = []
        for _ in 0..<3 { block = mixer.nextBlock { self.value($0, &$2, $0 == screen ? 0.5 : 0.125) } }
        #expect(block.allSatisfy { $0 == 0.375 })
    }

    private func tone(_ range: Range<Int64>, _ target: inout [Float], _ level: Float) -> Int {
        for (index, position) in range.enumerated() {
            let value = level * sinf(2 * .pi * 1_000 * Float(position % 48_000) / 48_000)
            (target[2 * index], target[2 * index + 1]) = (value, value)
        }
        return range.count
    }

    @Test("with ducking, the guest's volume is reduced while the anchor speaks, and returns afterwards")
    func ducks() {
        let ducking = Ducking(uids: ["anchor"], thresholdDb: -40, reductionDb: 12, attackMs: 80, releaseMs: 600)
        var mixer = AudioMixer(start: 0, rampPairs: 1, ducking: ducking)
        mixer.setGain(1, of: self.anchor, at: -10)
        mixer.setGain(1, of: self.guest, at: -10)
        // 2 s quiet, 2 s of speech, 2 s quiet. A tone averages to zero over a block, within 1 %; the guest is constant.
        var guest: [Float] = []
        for block in 0..<282 {
            let speaks = (94..<188).contains(block)
            let heard = mixer.nextBlock { source, range, target in
                if source == self.guest { return self.value(source, &target, 0.25) }
                return speaks ? self.tone(range, &target, 0.25) : 0
            }
            guest.append(heard.reduce(0, +) / Float(heard.count))
        }
        #expect(guest[90] == 0.25)
        #expect(abs(guest[150] - 0.25 * 0.251_19) < 0.004, "12 dB down: \(guest[150])")
        #expect(abs(guest[281] - 0.25) < 1e-6)
        for (a, b) in zip(guest, guest.dropFirst()) { #expect(abs(a - b) < 0.06, "no jump") }
    }

    @Test("an inaudible source is read with a delay, and without it as soon as it is audible")
    func silentLag() {
        var mixer = AudioMixer(start: 0, rampPairs: 960, measures: true, silentLag: 19_200)
        mixer.setGain(0, of: self.guest, at: 0)
        var read: [Range<Int64>] = []
        for block in 0..<6 {
            if block == 3 { mixer.setGain(1, of: self.guest, at: mixer.position) }
            if block == 4 { mixer.setGain(0, of: self.guest, at: mixer.position) }
            _ = mixer.nextBlock { source, range, target in
                read.append(range)
                return self.value(source, &target, 0.25)
            }
        }
        let starts = read.map(\.lowerBound)
        // The limiter's look-ahead comes first; the ramp down ends within its block.
        let due: [Int64] = [0] + (0..<6).map { Int64($0) * 1_024 + 256 }
        #expect(zip(due, starts).map { $0 - $1 } == [19_200, 19_200, 19_200, 19_200, 0, 0, 19_200])
        #expect(read.dropFirst().allSatisfy { $0.count == 1_024 })
    }

    @Test("audio levels are measured for the program and for each source, muted ones included")
    func levels() {
        var mixer = AudioMixer(start: 0, rampPairs: 1, measures: true)
        mixer.setGain(0, of: self.guest, at: 0)
        mixer.setGain(1, of: self.anchor, at: -10)
        for _ in 0..<150 {
            _ = mixer.nextBlock { source, range, target in
                source == self.guest ? self.tone(range, &target, 0.5) : 0
            }
        }
        let levels = mixer.levels()
        // A 1 kHz tone in both channels at −6.02 dB: −6.02 − 3.01 + 3.01 LUFS.
        #expect(abs((levels.sources[self.guest]?.shortTerm ?? 0) + 6_020) < 60)
        #expect(abs((levels.sources[self.guest]?.peak ?? 0) + 6_020) < 20)
        #expect(levels.sources[self.anchor]?.momentary == AudioLevels.Level.floor)
        #expect(levels.program.peak == AudioLevels.Level.floor)
        #expect(levels.position == 150 * 1_024)
    }
}

@Suite("The audio mixer: memory", .serialized)
struct MixerCostTests {
    private static let ids = (0..<8).map { SourceID(uid: "u\($0)") }

    private static func mixer() -> AudioMixer {
        var mixer = AudioMixer(
            start: 0, rampPairs: 960,
            ducking: Ducking(uids: ["u0"], thresholdDb: -40, reductionDb: 12, attackMs: 80, releaseMs: 600),
            measures: true)
        for id in self.ids { mixer.setGain(0.5, of: id, at: 0) }
        return mixer
    }

    private static let noise: [Float] = (0..<2_048).map { Float(($0 &* 7_919) % 4_001) / 2_000.5 - 1 }

    @Test("after 64 blocks with changing volumes, the mixer uses the same few output blocks in turn")
    func keepsNoMemory() {
        var mixer = Self.mixer()
        var sum: Float = 0
        func run(_ blocks: Int) {
            for block in 0..<blocks {
                if block % 4 == 0 {
                    for id in Self.ids { mixer.setGain(block % 8 == 0 ? 1 : 0.25, of: id, at: mixer.position) }
                }
                let heard = mixer.nextBlock { _, _, target in
                    for index in target.indices { target[index] = Self.noise[index & 2_047] }
                    return target.count / 2
                }
                sum += heard[5]
            }
        }
        run(64)
        #expect(sum.isFinite)
        // The output blocks are the same few, reused in turn.
        var addresses: Set<UInt> = []
        for _ in 0..<64 {
            let block = mixer.nextBlock { _, _, _ in 0 }
            addresses.insert(block.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
        }
        #expect(addresses.count == AudioMixer.blocksInUse)
    }

    @Test("output blocks of the mixer that a consumer keeps are not overwritten")
    func keptBlocksStay() {
        var mixer = Self.mixer()
        var kept: [[Float]] = []
        for block in 0..<40 {
            kept.append(
                mixer.nextBlock { _, _, target in
                    for index in target.indices { target[index] = Float(block) / 1_000 }
                    return target.count / 2
                })
        }
        #expect(Set(kept.map { $0[1_000] }).count > 30)
    }
}
