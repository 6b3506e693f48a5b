import Libc

/// Settings for ducking: while one of the given users speaks, the volume of all sources of other users is lowered.
/// ``AudioMixer/setSpeaking(_:duck:background:)`` takes the same settings for the opposite: the given users are lowered
/// while others speak.
package struct Ducking: Sendable, Equatable {
    /// The users whose speech lowers the volume of the others, and who are never lowered themselves.
    package var uids: Set<String>
    /// Threshold for speech: mean square after the loudness filter (K-weighting), both channels added.
    package var threshold: Float
    /// Gain of the other sources while one of the users speaks, 0…1.
    package var gain: Float
    /// Milliseconds to fade down, at least 1.
    package var attackMs: Int
    /// Milliseconds to fade back up, at least 1.
    package var releaseMs: Int
    /// Milliseconds to stay down after the speech has ended.
    package var holdMs: Int

    /// Creates the settings from values in decibels.
    ///
    /// - Parameters:
    ///   - thresholdDb: Loudness in LUFS from which on a user counts as speaking.
    ///   - reductionDb: Attenuation of the other sources in decibels, 0…60.
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

    /// Current gain of the ducked sources.
    struct State: Sendable {
        /// Gain of the other sources at the beginning (`from`) and at the end (`to`) of the current block.
        private(set) var from: Float = 1
        private(set) var to: Float = 1
        private var kept: Int64 = 0

        /// Advances by a block of `pairs` sample pairs.
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
