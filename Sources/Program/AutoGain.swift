import Libc
import MediaKernels

/// Brings the speech of one audio track to ``targetDb``, without delay. Created and used on the thread of one source.
///
/// The loudness of speech is measured while somebody speaks (``SpeakingDetector``); between words and in pauses, the gain
/// stays, so that noise is not raised. The gain changes slowly and without steps: a voice keeps its dynamics, and turning the
/// gain on or off makes no click. Peaks that the gain has raised are limited by the program's limiter.
package final class AutoGain {
    /// Loudness that speech is brought to, in LUFS.
    package static let targetDb: Float = -18
    /// Largest gain, and largest reduction, in decibels.
    package static let mostDb: Float = 15
    /// Speed at which the gain rises and falls, in decibels per second.
    package static let riseDb: Float = 4
    package static let fallDb: Float = 12
    /// Level in dBFS to which the gain may raise the highest recent peak at most.
    package static let peakDb: Float = -1
    /// Time constant of the measurement in blocks of the meter (`memory`), 3 s, and number of blocks of speech before the
    /// first change of the gain (`fewest`).
    private static let memory: Float = 141
    private static let fewest: Float = 10
    /// Factor by which the highest peak falls with each block: to half within 3 s.
    private static let peakFall: Float = 0.9951
    private static let sampleRate: Int64 = 48_000

    /// Whether the gain follows the speech. If not, it returns to 0 dB.
    package var isOn = true
    /// Current gain in decibels.
    package private(set) var gainDb: Float = 0
    private var meter = MeterBank(count: 1)
    private var detector = SpeakingDetector(rate: sampleRate)
    /// Samples that do not fill a block of the meter yet.
    private var pending: [Float] = []
    private var position: Int64 = 0
    /// Mean power of the speech, and the number of blocks that it was measured over, at most ``memory``.
    private var speech: Float = 0
    private var measured: Float = 0
    private var peak: Float = 0
    private var output: [Float] = []

    package init() {}

    /// Whether the gain is 0 dB and stays so.
    package var isIdle: Bool { !self.isOn && self.gainDb == 0 }

    /// Begins a new publication: its loudness is measured anew. The gain continues from its value, because in most cases the
    /// same publisher has reconnected.
    package func begin() {
        self.meter = MeterBank(count: 1)
        self.detector = SpeakingDetector(rate: Self.sampleRate)
        self.pending.removeAll(keepingCapacity: true)
        (self.position, self.speech, self.measured, self.peak) = (0, 0, 0, 0)
    }

    /// Returns the block with the gain.
    ///
    /// - Parameter samples: Interleaved stereo of 48 kHz.
    package func process(_ samples: [Float]) -> [Float] {
        let pairs = samples.count / 2
        if self.isOn { self.measure(samples) }
        let goal = self.isOn ? self.goal : 0
        let time = Float(pairs) / Float(Self.sampleRate)
        let from = self.gainDb
        self.gainDb = max(from - Self.fallDb * time, min(from + Self.riseDb * time, goal))
        guard from != 0 || self.gainDb != 0 else { return samples }
        if self.output.count != samples.count { self.output = [Float](repeating: 0, count: samples.count) }
        AudioMix.clear(&self.output)
        AudioMix.add(
            samples, onto: &self.output, pairs: 0..<pairs, from: Self.factor(from), to: Self.factor(self.gainDb))
        return self.output
    }

    private static func factor(_ decibels: Float) -> Float { powf(10, decibels / 20) }

    /// The gain that the measured speech needs, in decibels.
    private var goal: Float {
        guard self.measured >= Self.fewest, self.speech > 0 else { return self.gainDb }
        let loudness = 10 * log10f(self.speech) - 0.691
        let gain = max(-Self.mostDb, min(Self.mostDb, Self.targetDb - loudness))
        let room = self.peak > 0 ? Self.peakDb - 20 * log10f(self.peak) : gain
        // Peaks limit a gain, but do not turn it into a reduction.
        return min(gain, max(room, min(gain, 0)))
    }

    private func measure(_ samples: [Float]) {
        self.pending += samples
        let size = MeterBank.blockPairs * 2
        var first = 0
        while self.pending.count - first >= size {
            self.measureBlock(Array(self.pending[first..<first + size]))
            first += size
        }
        self.pending.removeFirst(first)
    }

    private func measureBlock(_ block: [Float]) {
        self.meter.measure(0, block)
        let power = self.meter.power(0, blocks: 1)
        let pairs = Int64(MeterBank.blockPairs)
        _ = self.detector.receive(power: power, pairs: pairs, at: self.position)
        self.position &+= pairs
        self.peak = max(self.meter.takePeak(0), self.peak * Self.peakFall)
        let level = power > 1e-10 ? 10 * log10f(power) - 0.691 : -100
        guard self.detector.isSpeaking, level >= self.detector.threshold - SpeakingDetector.hysteresisDb else { return }
        self.measured = min(Self.memory, self.measured + 1)
        self.speech += (power - self.speech) / self.measured
    }
}
