/// What is done with the audio of a source before it is mixed; by default nothing.
package struct AudioProcessing: Sendable, Hashable {
    /// How noise is suppressed; `nil`: not at all.
    package var noise: NoiseSuppressor.Kind?
    /// Whether speech is brought to the same loudness; see ``AutoGain``.
    package var autoGain: Bool

    package init(noise: NoiseSuppressor.Kind? = nil, autoGain: Bool = false) {
        (self.noise, self.autoGain) = (noise, autoGain)
    }

    /// Longest time by which the audio is available later than it is decoded, in nanoseconds; see ``NoiseSuppressor/mostLate``.
    var lateness: Int64 { self.noise == nil ? 0 : NoiseSuppressor.mostLate }
}

/// Follows the settings of a ``DecodeStage`` and the load of the machine. A value of the source's thread.
struct ProcessingFollower {
    /// How the audio of the next packet is processed.
    private(set) var current = AudioProcessing()
    private var wanted = AudioProcessing()
    private var version: Int?
    private var isSuspended = false

    /// Reads the settings, if they have changed.
    ///
    /// - Returns: Whether noise suppression was suspended or resumed because of the load; `nil` if neither.
    mutating func follow(_ stage: DecodeStage) -> DecodeStage.NoiseState? {
        let version = stage.processingVersion
        if version != self.version { (self.version, self.wanted) = (version, stage.processing) }
        self.current = self.wanted
        guard self.wanted.noise != nil else {
            self.isSuspended = false
            return nil
        }
        let isSuspended = stage.buffer.need.isThrifty
        if isSuspended { self.current.noise = nil }
        guard isSuspended != self.isSuspended else { return nil }
        self.isSuspended = isSuspended
        return isSuspended ? .suspended : .resumed
    }
}
