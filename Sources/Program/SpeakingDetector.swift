import Libc
package import MediaTypes

/// A source has begun or stopped speaking.
package struct SpeakingChange: Sendable, Hashable {
    package var source: SourceID
    /// `true` if the source has begun to speak, `false` if it has stopped.
    package var isSpeaking: Bool
    /// Position of the first loud sample pair, or of the first pair after the last loud one, in pairs since the room's
    /// `origin`. It lies before the moment at which the change is reported, by the time that the decision takes. If
    /// reporting was switched on or off while the source spoke: the mixer's position at that moment.
    package var position: Int64

    package init(source: SourceID, isSpeaking: Bool, position: Int64) {
        self.source = source
        self.isSpeaking = isSpeaking
        self.position = position
    }
}

/// Decides from the level of one signal whether somebody speaks. A value without clock: it counts sample pairs.
///
/// States: quiet → speaking, when the signal was loud for ``attackMs`` in total, where quiet times count against loud
/// ones → quiet, when the signal was not loud for ``releaseMs`` without a break. "Loud" means at least the threshold, or
/// while speaking at least the threshold minus ``hysteresisDb``. The threshold is ``thresholdDb``, or ``marginDb`` above the noise
/// floor if that is higher.
package struct SpeakingDetector: Sendable, Hashable {
    /// Threshold in LUFS with a quiet background.
    package static let thresholdDb: Float = -45
    /// Smallest distance of the threshold from the noise floor in decibels.
    package static let marginDb: Float = 9
    /// Distance between the thresholds for beginning and for stopping, in decibels, so that a level close to one of them
    /// does not toggle the state.
    package static let hysteresisDb: Float = 6
    /// Loud time after which a source counts as speaking, in milliseconds: longer than a click.
    package static let attackMs: Int64 = 200
    /// Time without loud signal after which a source counts as quiet, in milliseconds: longer than pauses between words.
    package static let releaseMs: Int64 = 800
    /// Highest noise floor in LUFS. So a steady signal of −41 LUFS or more, such as music, counts as speaking.
    package static let highestFloorDb: Float = -50
    /// Lowest noise floor in LUFS, also the first one; with it, the threshold is ``thresholdDb``.
    private static let lowestFloorDb: Float = -70
    /// Speed at which the noise floor follows a rising level, in decibels per second. It follows a falling level at once, so
    /// that it stays at the level between the words.
    private static let floorRise: Float = 3

    private let rate: Int64
    private var floor = Self.lowestFloorDb
    /// Loud pairs counted towards the attack.
    private var loud: Int64 = 0
    /// Where the counted loud pairs began.
    private var began: Int64 = 0
    /// Position after the last loud block.
    private var lastLoud: Int64 = 0
    package private(set) var isSpeaking = false

    /// - Parameter rate: Sample pairs per second, at least 1.
    package init(rate: Int64) { self.rate = max(1, rate) }

    /// Current threshold for beginning to speak, in LUFS.
    package var threshold: Float { max(Self.thresholdDb, self.floor + Self.marginDb) }

    /// Adds a block.
    ///
    /// - Parameters:
    ///   - power: Mean square of the block after the loudness filter (K-weighting), both channels added.
    ///   - pairs: Length of the block, which begins at `position`.
    /// - Returns: Whether the source begins (`true`) or stops (`false`) speaking, and the position of that; `nil` if
    ///   nothing changes.
    package mutating func receive(
        power: Float, pairs: Int64, at position: Int64
    ) -> (isSpeaking: Bool, position: Int64)? {
        let level = power > 1e-10 ? 10 * log10f(power) - 0.691 : -100
        let limit = self.threshold - (self.isSpeaking ? Self.hysteresisDb : 0)
        self.follow(level, pairs)
        guard level >= limit else { return self.quiet(pairs, at: position) }
        self.lastLoud = position &+ pairs
        guard !self.isSpeaking else { return nil }
        if self.loud == 0 { self.began = position }
        self.loud &+= pairs
        guard self.loud &* 1000 >= Self.attackMs &* self.rate else { return nil }
        self.isSpeaking = true
        return (true, self.began)
    }

    /// Ends the speech of a source that is removed or no longer observed.
    ///
    /// - Returns: The position of its end; `nil` if the source does not speak.
    package mutating func stop() -> Int64? {
        self.loud = 0
        guard self.isSpeaking else { return nil }
        self.isSpeaking = false
        return self.lastLoud
    }

    private mutating func quiet(_ pairs: Int64, at position: Int64) -> (isSpeaking: Bool, position: Int64)? {
        guard self.isSpeaking else {
            self.loud = max(0, self.loud &- pairs)
            return nil
        }
        guard (position &+ pairs &- self.lastLoud) &* 1000 >= Self.releaseMs &* self.rate else { return nil }
        return self.stop().map { (false, $0) }
    }

    private mutating func follow(_ level: Float, _ pairs: Int64) {
        let risen = self.floor + Self.floorRise * Float(pairs) / Float(self.rate)
        self.floor = min(Self.highestFloorDb, max(Self.lowestFloorDb, min(level, risen)))
    }
}
