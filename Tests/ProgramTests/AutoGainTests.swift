import Program
import Testing

@Suite("AutoGain: speech is brought to the same loudness")
struct AutoGainTests {
    private func run(_ gain: AutoGain, _ signal: [Float]) -> [Float] {
        VoiceSignal.blocks(signal).flatMap { gain.process($0) }
    }

    @Test("a quiet and a loud voice end up within 1.5 dB of the same level", arguments: [0.012, 0.15] as [Float])
    func levels(amplitude: Float) {
        let voice = VoiceSignal.voice(seconds: 8, amplitude: amplitude)
        let gain = AutoGain()
        let output = self.run(gain, voice)
        let reference = VoiceSignal.voice(seconds: 8, amplitude: 0.05)
        let usual = AutoGain()
        let wanted = VoiceSignal.level(self.run(usual, reference), VoiceSignal.syllables(6, 7.9))
        let level = VoiceSignal.level(output, VoiceSignal.syllables(6, 7.9))
        print("MEASURED: gain \(gain.gainDb) dB: \(level) dBFS, reference \(usual.gainDb) dB: \(wanted) dBFS")
        #expect(abs(level - wanted) < 1.5)
        #expect(VoiceSignal.largestStep(output) < VoiceSignal.largestStep(voice) * 6)
    }

    @Test("in a pause the gain rises by at most 1 dB, so that noise is hardly raised")
    func pause() {
        let gain = AutoGain()
        _ = self.run(gain, VoiceSignal.voice(seconds: 5, amplitude: 0.02))
        let before = gain.gainDb
        _ = self.run(gain, VoiceSignal.noise(seconds: 5, level: -62))
        #expect(before > 1 && gain.gainDb <= before + 1, "\(before) to \(gain.gainDb)")
    }

    @Test("noise alone is not raised")
    func noise() {
        let gain = AutoGain()
        let noise = VoiceSignal.noise(seconds: 4, level: -55)
        #expect(self.run(gain, noise) == Array(noise[..<(noise.count / 2048 * 2048)]))
    }

    @Test("the gain changes by at most 4 dB a second upward and 12 downward, from block to block")
    func slow() {
        let gain = AutoGain()
        var last = gain.gainDb
        for block in VoiceSignal.blocks(VoiceSignal.voice(seconds: 4, amplitude: 0.008)) {
            _ = gain.process(block)
            #expect(gain.gainDb - last <= AutoGain.riseDb * 1024 / 48_000 + 0.001)
            last = gain.gainDb
        }
        for block in VoiceSignal.blocks(VoiceSignal.voice(seconds: 4, amplitude: 0.2)) {
            _ = gain.process(block)
            #expect(last - gain.gainDb <= AutoGain.fallDb * 1024 / 48_000 + 0.001)
            last = gain.gainDb
        }
    }

    @Test("when automatic gain is turned off, it returns to 0 dB, and then its output equals its input")
    func off() {
        let gain = AutoGain()
        _ = self.run(gain, VoiceSignal.voice(seconds: 4, amplitude: 0.01))
        #expect(gain.gainDb > 3 && !gain.isIdle)
        gain.isOn = false
        let voice = VoiceSignal.voice(seconds: 3, amplitude: 0.01)
        let output = self.run(gain, voice)
        #expect(gain.isIdle)
        #expect(output.suffix(48_000) == voice[..<output.count].suffix(48_000))
    }

    @Test("automatic gain returns blocks of any length, also empty ones, with their length")
    func lengths() {
        let gain = AutoGain()
        for pairs in [0, 1, 960, 2_048, 5_000, 1_115] {
            #expect(gain.process([Float](repeating: 0.1, count: pairs * 2)).count == pairs * 2)
        }
    }
}
