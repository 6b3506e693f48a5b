import MediaTypes
import Program
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Who speaks: thresholds, attack, release, noise floor")
struct SpeakingDetectorTests {
    private static let rate: Int64 = 48_000
    private static let pairs: Int64 = 1_024

    /// Changes in milliseconds: the time of the block that decided, and the reported time.
    private struct Found: Equatable {
        var isSpeaking: Bool
        var decided: Int64
        var at: Int64
    }

    /// Feeds levels in LUFS, each for a time in milliseconds.
    private func changes(_ levels: [(level: Float, milliseconds: Int64)]) -> [Found] {
        var detector = SpeakingDetector(rate: Self.rate)
        var found: [Found] = []
        var (position, end): (Int64, Int64) = (0, 0)
        for (level, milliseconds) in levels {
            end += milliseconds * Self.rate / 1_000
            while position < end {
                let power = powf(10, (level + 0.691) / 10)
                if let change = detector.receive(power: power, pairs: Self.pairs, at: position) {
                    found.append(
                        Found(
                            isSpeaking: change.isSpeaking, decided: (position + Self.pairs) * 1_000 / Self.rate,
                            at: change.position * 1_000 / Self.rate))
                }
                position += Self.pairs
            }
        }
        return found
    }

    @Test(
        "speech begins after 200 ms of sound and ends after 800 ms without, with the times of its first and last sound")
    func speech() {
        let found = self.changes([(-80, 1_000), (-25, 2_000), (-80, 2_000)])
        #expect(found.map(\.isSpeaking) == [true, false])
        guard found.count == 2 else { return }
        // One block is 21 ms.
        #expect((1_000...1_022).contains(found[0].at) && (200...243).contains(found[0].decided - found[0].at))
        #expect((3_000...3_022).contains(found[1].at) && (800...822).contains(found[1].decided - found[1].at))
    }

    @Test("a short click, and short clicks with longer silence between them, are not speech")
    func clicks() {
        #expect(self.changes([(-80, 500), (-10, 150), (-80, 1_000)]).isEmpty)
        #expect(self.changes(Array(repeating: [(-10, 90), (-80, 200)], count: 30).flatMap { $0 }).isEmpty)
    }

    @Test("pauses between words do not end speech, and syllables add up to its beginning")
    func words() {
        let words = Array(repeating: [(level: Float(-25), milliseconds: Int64(160)), (-70, 90)], count: 12)
        let found = self.changes(words.flatMap { $0 } + [(-80, 2_000)])
        #expect(found.map(\.isSpeaking) == [true, false])
        #expect(self.changes([(-25, 500), (-80, 700), (-25, 500), (-80, 700)]).count == 1)
    }

    @Test("a level between both thresholds neither begins nor ends speech")
    func hysteresis() {
        let between = SpeakingDetector.thresholdDb - SpeakingDetector.hysteresisDb / 2
        #expect(self.changes([(between, 3_000)]).isEmpty)
        #expect(self.changes([(-30, 500), (between, 3_000)]).map(\.isSpeaking) == [true])
    }

    @Test("steady noise of −52 LUFS raises the threshold; a steady level of −35 LUFS stays speech")
    func noise() {
        // 9 dB above a noise of −52 LUFS is −43.
        #expect(self.changes([(-52, 10_000), (-44, 2_000)]).isEmpty)
        #expect(self.changes([(-52, 10_000), (-42, 2_000)]).map(\.isSpeaking) == [true])
        #expect(self.changes([(-80, 10_000), (-44, 2_000)]).map(\.isSpeaking) == [true], "without noise")
        #expect(self.changes([(-35, 60_000)]).map(\.isSpeaking) == [true])
    }

    @Test("a source that is no longer observed stops speaking at its last sound")
    func stop() {
        var detector = SpeakingDetector(rate: Self.rate)
        let before = detector.stop()
        #expect(before == nil)
        for block in 0..<20 { _ = detector.receive(power: 0.1, pairs: Self.pairs, at: Int64(block) * Self.pairs) }
        #expect(detector.isSpeaking)
        let end = detector.stop()
        #expect(end == 20 * Self.pairs)
        let again = detector.stop()
        #expect(again == nil && !detector.isSpeaking)
    }

    // MARK: In the mixer

    private static let voices = (0..<3).map { SourceID(uid: "v\($0)") }

    private func tone(_ range: Range<Int64>, _ target: inout [Float], _ level: Float) -> Int {
        for (index, position) in range.enumerated() {
            let value = level * sinf(2 * .pi * 1_000 * Float(position % 48_000) / 48_000)
            (target[2 * index], target[2 * index + 1]) = (value, value)
        }
        return range.count
    }

    @Test(
        "the mixer reports which sources speak audibly in the program: no muted source, and none while detection is off"
    )
    func mixer() {
        var mixer = AudioMixer(start: 0, rampPairs: 1)
        for voice in Self.voices { mixer.setGain(voice == Self.voices[2] ? 0 : 1, of: voice, at: -10) }
        func run(_ blocks: Int) -> [SpeakingChange] {
            for _ in 0..<blocks {
                _ = mixer.nextBlock { voice, range, target in
                    voice == Self.voices[1] ? 0 : self.tone(range, &target, 0.125)
                }
            }
            return mixer.takeSpeakingChanges()
        }
        #expect(run(40).isEmpty)
        mixer.setSpeaking(true)
        let begun = run(40)
        #expect(begun.map(\.source) == [Self.voices[0]] && begun.allSatisfy(\.isSpeaking))
        mixer.setGain(0, of: Self.voices[0], at: mixer.position)
        let over = run(60)
        #expect(over.map(\.source) == [Self.voices[0]] && over.allSatisfy { !$0.isSpeaking })
        mixer.setGain(1, of: Self.voices[2], at: mixer.position)
        #expect(run(40).map(\.source) == [Self.voices[2]])
        mixer.setSpeaking(false)
        let stopped = mixer.takeSpeakingChanges()
        #expect(stopped.map(\.isSpeaking) == [false])
        #expect(run(40).isEmpty)
    }

    @Test("music is lowered while another source speaks, rises again afterwards, and does not count as speaking itself")
    func duck() {
        let (music, voice) = (SourceID(uid: "music"), SourceID(uid: "voice"))
        let duck = Ducking(
            uids: ["music"], thresholdDb: 0, reductionDb: 12, attackMs: 100, releaseMs: 500, holdMs: 0)
        var mixer = AudioMixer(start: 0, rampPairs: 1)
        for source in [music, voice] { mixer.setGain(1, of: source, at: -10) }
        mixer.setSpeaking(false, duck: duck, background: [music])
        // The music is constant; a tone of 1 kHz averages to zero over a block, within 1 %.
        var levels: [Float] = []
        for block in 0..<282 {
            let heard = mixer.nextBlock { source, range, target in
                if source == voice { return (94..<188).contains(block) ? self.tone(range, &target, 0.25) : 0 }
                for index in target.indices { target[index] = 0.25 }
                return target.count / 2
            }
            levels.append(heard.reduce(0, +) / Float(heard.count))
        }
        let told = mixer.takeSpeakingChanges()
        #expect(levels[90] == 0.25 && told.isEmpty)
        #expect(abs(levels[150] - 0.25 * 0.251_19) < 0.004, "12 dB down: \(levels[150])")
        #expect(abs(levels[281] - 0.25) < 1e-6)
        for (a, b) in zip(levels, levels.dropFirst()) { #expect(abs(a - b) < 0.06, "no jump") }
    }

    @Test("a source with its own fade fades in and out over that time; other changes of its volume are short")
    func fades() {
        let music = SourceID(uid: "music")
        var mixer = AudioMixer(start: 0, rampPairs: 960)
        mixer.add(MixerChannel(music))
        func run(_ blocks: Int) -> [Float] {
            (0..<blocks).map { _ in
                let heard = mixer.nextBlock { _, _, target in
                    for index in target.indices { target[index] = 0.5 }
                    return target.count / 2
                }
                return heard.last ?? 0
            }
        }
        mixer.setGain(1, of: music, at: 0, fade: 48_000)
        let rising = run(50)
        #expect(rising[10] > 0.05 && rising[10] < 0.2 && rising[49] == 0.5)
        mixer.setGain(0.5, of: music, at: mixer.position, fade: 48_000)
        #expect(run(4).last == 0.25)
        mixer.setGain(0, of: music, at: mixer.position, fade: 48_000)
        let isGoneEarly = mixer.remove(music)
        #expect(!isGoneEarly)
        let falling = run(50)
        #expect(falling[10] > 0.1 && falling[10] < 0.24 && falling[49] == 0)
        let isGone = mixer.remove(music)
        #expect(isGone)
    }
}
