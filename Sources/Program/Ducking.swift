#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Turns the other sources down while one user speaks.
package struct Ducking: Sendable, Equatable {
    /// The users who are heard over the others.
    package var uids: Set<String>
    /// What speaking is: mean square of a block behind the loudness filter, both channels added.
    package var threshold: Float
    /// The gain of the others meanwhile, 0…1.
    package var gain: Float
    /// Milliseconds down, back up, and kept down after the last word.
    package var attackMs: Int
    package var releaseMs: Int
    package var holdMs: Int

    /// - Parameters:
    ///   - thresholdDb: LUFS from which on a user speaks.
    ///   - reductionDb: Decibels the others lose, 0…60.
    package init(
        uids: Set<String>, thresholdDb: Int, reductionDb: Int, attackMs: Int, releaseMs: Int, holdMs: Int = 300
    ) {
        self.uids = uids
        self.threshold = powf(10, (Float(thresholdDb) + 0.691) / 10)
        self.gain = powf(10, -Float(max(0, min(60, reductionDb))) / 20)
        self.attackMs = max(1, attackMs)
        self.releaseMs = max(1, releaseMs)
        self.holdMs = max(0, holdMs)
    }

    /// What the ducking does at the moment.
    struct State: Sendable {
        /// The others' gain at the beginning and the end of the block.
        private(set) var from: Float = 1
        private(set) var to: Float = 1
        private var kept: Int64 = 0

        /// Moves on by a block of `pairs` at `sampleRate`.
        mutating func advance(_ ducking: Ducking, isSpeaking: Bool, pairs: Int64, sampleRate: Int64) {
            self.from = self.to
            if isSpeaking {
                self.kept = Int64(ducking.holdMs) &* sampleRate / 1000
            } else {
                self.kept = max(0, self.kept &- pairs)
            }
            let isDown = isSpeaking || self.kept > 0
            let range = Int64(isDown ? ducking.attackMs : ducking.releaseMs) &* sampleRate / 1000
            let step = (1 - ducking.gain) * Float(pairs) / Float(max(1, range))
            self.to = isDown ? max(ducking.gain, self.from - step) : min(1, self.from + step)
        }
    }
}
