import MediaKernels
package import MediaTypes

/// One source's input of a ``AudioMixer``. It is created with the memory it needs, so that adding a source does not
/// allocate on the program thread.
package struct MixerChannel: Sendable {
    package let source: SourceID
    let name: String
    var gain = GainRamp(0)
    /// The source's audio in the current block, interleaved stereo; valid if `isRead`.
    var audio = [Float](repeating: 0, count: Int(AudioMixer.blockPairs) * 2)
    var isRead = false
    /// Whether the source speaks; `nil` while that is not observed.
    var speaking: SpeakingDetector?

    package init(_ source: SourceID) {
        self.source = source
        self.name = source.description
    }

    /// Reads the audio of `range` if the source is audible. For an inaudible source, reads the audio of `lag` pairs
    /// earlier if `isWanted`, for metering. NaN becomes silence, and infinity the largest sample. Decoded audio is checked
    /// already; this check protects the other sources if a later step makes such a sample.
    mutating func take(
        _ range: Range<Int64>, isWanted: Bool, lag: Int64, _ read: (SourceID, Range<Int64>, inout [Float]) -> Int
    ) {
        let isSilent = self.isSilent(from: range.lowerBound)
        let place = isSilent ? range.lowerBound &- lag..<range.upperBound &- lag : range
        self.isRead = (isWanted || !isSilent) && read(self.source, place, &self.audio) > 0
        if self.isRead { AudioMix.sanitize(&self.audio) }
    }

    /// Whether the source is inaudible at `position`, and stays so unless its gain is changed.
    func isSilent(from position: Int64) -> Bool {
        self.gain.target == 0 && self.gain.value(at: position) == 0
    }

    /// Adds the source's audio, times its gain, to `target`, one linear gain segment after the other. `duck` is an
    /// additional gain, linear between both ends of `range`.
    func add(_ range: Range<Int64>, onto target: inout [Float], duck: (from: Float, to: Float)) {
        guard self.isRead, !self.isSilent(from: range.lowerBound) else { return }
        let slope = (duck.to - duck.from) / Float(range.upperBound &- range.lowerBound)
        var from = range.lowerBound
        while from < range.upperBound {
            let to = min(range.upperBound, self.gain.nextBend(after: from))
            let (first, last) = (from &- range.lowerBound, to &- range.lowerBound)
            AudioMix.add(
                self.audio, onto: &target, pairs: Int(first)..<Int(last),
                from: self.gain.value(at: from) * (duck.from + slope * Float(first)),
                to: self.gain.value(at: to) * (duck.from + slope * Float(last)))
            from = to
        }
    }
}
