import MediaKernels
package import MediaTypes

/// Mixes the program's audio in blocks of one AAC frame: the sum of the audible sources, each times its gain, and of the
/// overlay animations, limited.
///
/// Used by the program thread only. Positions are sample pairs since the room's `origin`. Blocks and level reports are
/// reused in turn, so that mixing rarely allocates memory.
package struct AudioMixer: Sendable {
    /// Number of sample pairs per block: one AAC frame.
    package static let blockPairs: Int64 = 1024
    /// Number of blocks that are reused in turn. A block that is still referenced when its turn comes is copied.
    package static let blocksInUse = 16
    private static let reportsInUse = 4

    /// One channel per source, sorted by name: float addition is not associative, and the same room must produce the
    /// same bytes.
    private var channels: [MixerChannel] = []
    private var limiter = Limiter()
    private let rampPairs: Int64
    private let sampleRate: Int64
    private let ducking: Ducking?
    private var ducked = Ducking.State()
    /// Whether levels are measured even if nobody asks who speaks.
    private let isLevelWanted: Bool
    private var isMeasuring: Bool
    /// Whether ``speakingChanges`` are collected.
    private var reportsSpeaking = false
    /// Whose volume is lowered while others speak; see ``setSpeaking(_:duck:background:)``. Kept after it was switched
    /// off, until the volume is raised again.
    private var duck: Ducking?
    private var isDuckEnding = false
    private var background: Set<SourceID> = []
    private var lowered = Ducking.State()
    /// Changes of who speaks since ``takeSpeakingChanges()``.
    package private(set) var speakingChanges: [SpeakingChange] = []
    private let silentLag: Int64
    /// One meter for each channel, then one for the program.
    private var meters = MeterBank(count: 1)
    private let silence = [Float](repeating: 0, count: Int(blockPairs) * 2)
    /// Position of the next block's first pair, a multiple of ``blockPairs``.
    package private(set) var position: Int64
    private var blocks: [[Float]]
    private var nextInUse = 0
    /// Level reports that are reused in turn, like the blocks.
    private var reports = [AudioLevels](
        repeating: AudioLevels(position: 0, program: AudioLevels.Level(), sources: [:]), count: reportsInUse)
    private var nextReport = 0
    /// Pairs that must still be fed to the limiter before its output is at ``position``.
    private var prime: Int64

    /// Creates a mixer without sources.
    ///
    /// - Parameters:
    ///   - start: Position of the program's first tick.
    ///   - rampPairs: Duration of a volume change, in pairs.
    ///   - sampleRate: Pairs per second; the loudness measurement is correct at 48,000.
    ///   - ducking: Users whose speech lowers the volume of the others; `nil`: no ducking.
    ///   - measures: Whether ``levels()`` will be called. Then every source is read, on air or not.
    ///   - silentLag: Pairs by which an inaudible source is measured later, because its audio may arrive after it is
    ///     due.
    package init(
        start: Int64, rampPairs: Int64, sampleRate: Int64 = 48_000, ducking: Ducking? = nil, measures: Bool = false,
        silentLag: Int64 = 0
    ) {
        self.rampPairs = max(1, rampPairs)
        self.sampleRate = sampleRate
        self.ducking = ducking
        self.isLevelWanted = measures || ducking != nil
        self.isMeasuring = self.isLevelWanted
        self.silentLag = max(0, silentLag)
        self.position = TimeMath.scale(start, by: 1, over: Self.blockPairs, rounding: .up) &* Self.blockPairs
        self.prime = Int64(Limiter.latencyPairs)
        self.blocks = (0..<Self.blocksInUse).map { _ in [Float](repeating: 0, count: Int(Self.blockPairs) * 2) }
    }

    /// Position up to which sources must have audio for a block that ends at `end`: the limiter looks ahead.
    package static func wantedUntil(blockEnd end: Int64) -> Int64 { end &+ Int64(Limiter.latencyPairs) }

    /// Changes a source's gain, from `position` on, or from the first pair that is not mixed yet if that is later.
    ///
    /// - Parameter fade: Duration of a change from or to 0, in pairs; 0: that of all other changes.
    package mutating func setGain(_ gain: Float, of source: SourceID, at position: Int64, fade: Int64 = 0) {
        let from = max(position, self.mixed)
        let index = self.channel(of: source)
        let isFade = fade > 0 && (gain == 0) != (self.channels[index].gain.target == 0)
        self.channels[index].gain.move(to: gain, at: from, over: isFade ? fade : self.rampPairs)
    }

    private mutating func channel(of source: SourceID) -> Int {
        if let index = self.channels.firstIndex(where: { $0.source == source }) { return index }
        return self.insert(MixerChannel(source))
    }

    /// Sets whether changes of who speaks are collected, and which users are lowered while others speak.
    ///
    /// - Parameters:
    ///   - isReported: Whether ``speakingChanges`` are collected. If not, the sources that speak are reported to have
    ///     stopped.
    ///   - duck: Lowers the volume of its users while a source of any other user speaks; its threshold is not used. `nil`:
    ///     nothing is lowered.
    ///   - background: Sources that are never reported as speaking, and whose speech does not lower the users of `duck`.
    package mutating func setSpeaking(_ isReported: Bool, duck: Ducking? = nil, background: Set<SourceID> = []) {
        let before = self.isDuckEnding ? nil : self.duck
        guard isReported != self.reportsSpeaking || duck != before || background != self.background else { return }
        let wasReported = self.reportsSpeaking
        (self.reportsSpeaking, self.background) = (isReported, background)
        self.isDuckEnding = duck == nil && self.lowered.to < 1
        if !self.isDuckEnding { self.duck = duck }
        self.isMeasuring = self.isLevelWanted || self.observesSpeaking
        for index in self.channels.indices {
            let source = self.channels[index].source
            // Speech that goes on ends for the receivers of the reports, or begins for them now.
            if wasReported, !isReported, self.channels[index].speaking?.isSpeaking == true {
                self.speakingChanges.append(
                    SpeakingChange(source: source, isSpeaking: false, position: self.position))
            }
            self.observe(index)
            if !wasReported, self.channels[index].speaking?.isSpeaking == true {
                self.told(source, isSpeaking: true, at: self.position)
            }
        }
    }

    /// Whether the sources have speech detectors.
    private var observesSpeaking: Bool { self.reportsSpeaking || self.duck != nil }

    /// Returns the changes of who speaks since the last call, in order.
    package mutating func takeSpeakingChanges() -> [SpeakingChange] {
        defer { self.speakingChanges = [] }
        return self.speakingChanges
    }

    /// Begins or ends the observation of a channel, as ``setSpeaking(_:duck:background:)`` has requested.
    private mutating func observe(_ index: Int) {
        guard self.observesSpeaking, !self.background.contains(self.channels[index].source) else {
            self.endSpeech(index)
            return
        }
        if self.channels[index].speaking == nil {
            self.channels[index].speaking = SpeakingDetector(rate: self.sampleRate)
        }
    }

    private mutating func endSpeech(_ index: Int) {
        if let end = self.channels[index].speaking?.stop() {
            self.told(self.channels[index].source, isSpeaking: false, at: end)
        }
        self.channels[index].speaking = nil
    }

    private mutating func told(_ source: SourceID, isSpeaking: Bool, at position: Int64) {
        guard self.reportsSpeaking else { return }
        self.speakingChanges.append(SpeakingChange(source: source, isSpeaking: isSpeaking, position: position))
    }

    private mutating func insert(_ channel: MixerChannel) -> Int {
        let index = self.channels.firstIndex { $0.name > channel.name } ?? self.channels.count
        self.channels.insert(channel, at: index)
        self.meters.insert(at: index)
        self.observe(index)
        return index
    }

    /// Adds a source from the next block on, inaudible until it is given a gain. Does nothing if the source exists.
    package mutating func add(_ channel: MixerChannel) {
        if !self.channels.contains(where: { $0.source == channel.source }) { _ = self.insert(channel) }
    }

    /// Removes a source if it is not audible any more: its gain is 0 and its ramp has ended.
    ///
    /// - Returns: Whether the mixer has no such source any more; also `true` if it had none before.
    package mutating func remove(_ source: SourceID) -> Bool {
        guard let index = self.channels.firstIndex(where: { $0.source == source }) else { return true }
        guard self.channels[index].isSilent(from: self.mixed) else { return false }
        self.endSpeech(index)
        self.channels.remove(at: index)
        self.meters.remove(at: index)
        for report in self.reports.indices { self.reports[report].sources[source] = nil }
        return true
    }

    /// Adds the sources that are audible or fading out to `presence`.
    package func noteHeard(in presence: inout SourceVisibility) {
        let position = self.mixed
        for channel in self.channels where !channel.isSilent(from: position) {
            presence.insert(heard: channel.source)
        }
    }

    /// Position of the first pair that is not mixed yet. It is ahead of ``position`` by the limiter's look-ahead.
    private var mixed: Int64 { self.position &+ Int64(Limiter.latencyPairs) &- self.prime }

    /// Mixes the next block and advances.
    ///
    /// - Parameters:
    ///   - overlays: Animations whose audio is added; `nil`: none.
    ///   - read: Copies a source's audio of a range into the array, with silence where it has none, and returns the number
    ///     of pairs it had. Called once for every position, in order, as long as the source is audible; for an inaudible
    ///     source only if levels are measured, with a range `silentLag` pairs earlier.
    /// - Returns: ``blockPairs`` pairs of interleaved stereo, starting at ``position`` as it was before the call.
    package mutating func nextBlock(
        overlays: OverlayPlayer? = nil, _ read: (SourceID, Range<Int64>, inout [Float]) -> Int
    ) -> [Float] {
        if self.prime > 0 {
            // Once, at the start: fill the limiter's look-ahead with the first 256 pairs.
            let range = self.position..<self.position &+ self.prime
            var head = [Float](repeating: 0, count: Int(self.prime) * 2)
            self.mix(range, onto: &head, overlays, read)
            self.limiter.process(&head)
            self.prime = 0
        }
        let from = self.position &+ Int64(Limiter.latencyPairs)
        let slot = self.nextInUse
        self.nextInUse = (slot + 1) % Self.blocksInUse
        // Taken out while it is written, so that it is uniquely referenced.
        var block: [Float] = []
        swap(&block, &self.blocks[slot])
        self.mix(from..<from &+ Self.blockPairs, onto: &block, overlays, read)
        self.limiter.process(&block)
        if self.isMeasuring { self.meters.measure(self.channels.count, block) }
        self.blocks[slot] = block
        self.position &+= Self.blockPairs
        return block
    }

    private mutating func mix(
        _ range: Range<Int64>, onto target: inout [Float], _ overlays: OverlayPlayer?,
        _ read: (SourceID, Range<Int64>, inout [Float]) -> Int
    ) {
        for index in self.channels.indices {
            self.channels[index].take(range, isWanted: self.isMeasuring, lag: self.silentLag, read)
        }
        self.measure(range)
        AudioMix.clear(&target)
        for index in self.channels.indices {
            let uid = self.channels[index].source.uid
            var duck: (from: Float, to: Float) = (1, 1)
            if self.ducking?.uids.contains(uid) == false { duck = (self.ducked.from, self.ducked.to) }
            if self.duck?.uids.contains(uid) == true {
                duck = (duck.from * self.lowered.from, duck.to * self.lowered.to)
            }
            self.channels[index].add(range, onto: &target, duck: duck)
        }
        overlays?.mix(range, onto: &target)
        AudioMix.sanitize(&target)
    }

    /// Measures the sources' levels, two sources at a time, detects which sources speak, and controls the ducking.
    private mutating func measure(_ range: Range<Int64>) {
        let pairs = Int64(range.count)
        guard self.isMeasuring, pairs == Self.blockPairs else { return }
        var index = 0
        while index < self.channels.count {
            let next = index + 1 < self.channels.count ? index + 1 : nil
            let audio = self.channels[index].isRead ? self.channels[index].audio : self.silence
            let other = next.map { self.channels[$0].isRead ? self.channels[$0].audio : self.silence }
            self.meters.measure(index, audio, next, other ?? audio)
            index += 2
        }
        if self.observesSpeaking { self.noteSpeaking(range) }
        guard let ducking = self.ducking else { return }
        let isSpeaking = self.channels.indices.contains { index in
            ducking.uids.contains(self.channels[index].source.uid) && self.channels[index].gain.target > 0
                && self.meters.power(index, blocks: 2) > ducking.threshold
        }
        self.ducked.advance(ducking, isSpeaking: isSpeaking, pairs: pairs, sampleRate: self.sampleRate)
    }

    /// Passes the level of every source, with its gain, to its detector, and lowers the users of ``duck`` while a
    /// source of any other user speaks. An inaudible source does not count as speaking.
    private mutating func noteSpeaking(_ range: Range<Int64>) {
        let pairs = Int64(range.count)
        for index in self.channels.indices {
            let gain = self.channels[index].gain.value(at: range.lowerBound)
            let power = gain > 0 ? self.meters.power(index, blocks: 1) * gain * gain : 0
            guard
                let change = self.channels[index].speaking?.receive(power: power, pairs: pairs, at: range.lowerBound)
            else { continue }
            self.told(self.channels[index].source, isSpeaking: change.isSpeaking, at: change.position)
        }
        guard let duck = self.duck else { return }
        let isSpeaking =
            !self.isDuckEnding
            && self.channels.contains { $0.speaking?.isSpeaking == true && !duck.uids.contains($0.source.uid) }
        self.lowered.advance(duck, isSpeaking: isSpeaking, pairs: pairs, sampleRate: self.sampleRate)
        // The next block begins at the end of this one, at full volume.
        guard self.isDuckEnding, self.lowered.from >= 1 else { return }
        (self.duck, self.isDuckEnding) = (nil, false)
        self.isMeasuring = self.isLevelWanted || self.observesSpeaking
        for index in self.channels.indices { self.observe(index) }
    }

    /// Returns the levels measured up to ``position`` and restarts the peak measurement.
    package mutating func levels() -> AudioLevels {
        let slot = self.nextReport
        self.nextReport = (slot + 1) % Self.reportsInUse
        for (index, channel) in self.channels.enumerated() {
            self.reports[slot].sources[channel.source] = AudioLevels.Level(&self.meters, index)
        }
        self.reports[slot].program = AudioLevels.Level(&self.meters, self.channels.count)
        self.reports[slot].position = self.position
        return self.reports[slot]
    }
}
