import MediaKernels
package import MediaTypes

/// One source's way into the sum of a ``Mixer``. It brings the memory it needs, so that a source that comes while the program
/// runs takes none on its thread.
package struct MixerChannel: Sendable {
    package let source: SourceID
    let name: String
    var gain = GainRamp(0)
    /// Its sound of the block, when `isRead`.
    var sound = [Float](repeating: 0, count: Int(Mixer.blockPairs) * 2)
    var isRead = false

    package init(_ source: SourceID) {
        self.source = source
        self.name = source.description
    }

    /// Reads the sound of `range`, unless nobody wants it; `lag` pairs before that while nobody hears it.
    mutating func take(
        _ range: Range<Int64>, isWanted: Bool, lag: Int64, _ read: (SourceID, Range<Int64>, inout [Float]) -> Int
    ) {
        let isSilent = self.isSilent(from: range.lowerBound)
        let place = isSilent ? range.lowerBound &- lag..<range.upperBound &- lag : range
        self.isRead = (isWanted || !isSilent) && read(self.source, place, &self.sound) > 0
    }

    /// Nothing of it is heard at `position` and, as things are, after it.
    func isSilent(from position: Int64) -> Bool {
        self.gain.target == 0 && self.gain.value(at: position) == 0
    }

    /// Adds `sound` onto `target`, straight line by straight line. `duck` is the further gain at both ends of `range`.
    func add(_ range: Range<Int64>, onto target: inout [Float], duck: (from: Float, to: Float)) {
        guard self.isRead, !self.isSilent(from: range.lowerBound) else { return }
        let slope = (duck.to - duck.from) / Float(range.upperBound &- range.lowerBound)
        var from = range.lowerBound
        while from < range.upperBound {
            let to = min(range.upperBound, self.gain.nextBend(after: from))
            let (first, last) = (from &- range.lowerBound, to &- range.lowerBound)
            SoundMix.add(
                self.sound, onto: &target, pairs: Int(first)..<Int(last),
                from: self.gain.value(at: from) * (duck.from + slope * Float(first)),
                to: self.gain.value(at: to) * (duck.from + slope * Float(last)))
            from = to
        }
    }
}
