package import MediaTypes

/// Decides when a rendition switches between encoding and a publisher's own packets, and where the room's segments and
/// GOPs begin. A value type without threads or clocks: it receives packets and the facts of every tick, and returns the
/// step for the tick.
///
/// States: encoding ⇄ passing. Passing begins at an IDR frame of the only source that fills the canvas. It ends as soon
/// as the stream violates a requirement of the rendition, between two chunks of the stream. Both switches cut the
/// segment and add a discontinuity to every playlist. Invariants:
/// 1. A segment begins with an IDR frame in every rendition, and none is longer than the grid's.
/// 2. The passed packets cover a continuous run of ticks with one frame per tick, except before a cut, where the last
///    frame may be held.
/// 3. A packet is output at most once, in decoding order, and not before its first tick.
package struct PassthroughGate: Sendable {
    /// What the program shows at a tick.
    package struct Facts: Sendable {
        /// The source that fills the canvas alone, with nothing drawn over it; `nil` if there is none.
        package var solo: SourceID?
        /// Whether the canvas size differs from that of the previous tick.
        package var isResized = false
        /// Whether the canvas shows the current frame of the source, so that an encoder can continue with the canvas.
        package var isFresh = true

        package init(solo: SourceID?, isResized: Bool = false, isFresh: Bool = true) {
            self.solo = solo
            self.isResized = isResized
            self.isFresh = isFresh
        }
    }

    package enum Change: Sendable, Equatable {
        case began(track: Int, source: SourceID)
        case ended(track: Int, source: SourceID, PassthroughCause)
    }

    package struct Step: Sendable {
        package var step: TickPlan
        /// Whether the open segment ends before this tick.
        package var isCut = false
        /// Whether the playlists get a discontinuity before this tick.
        package var isBreak = false
        package var change: Change?
        /// The source that has to be asked for a key frame, because its next one may come too late for passthrough.
        package var keyFrameSource: SourceID?
    }

    struct Passing {
        var target: PassthroughTarget
        var source: SourceID
        /// The first tick whose frame is not in the packets that were output.
        var released: Int64
        /// Why passing must end, and the tick at which this became known; `nil`: it need not end.
        var leaving: (cause: PassthroughCause, since: Int64)?
    }

    /// Number of complete GOPs without an error that a stream must have before it is passed through: at the beginning
    /// (`first`) and after it has violated a requirement (`again`).
    private static let proof = (first: 1, again: 2)
    /// Number of ticks for which the last frame may be held after the publisher has disconnected and its packets are
    /// all output. An offline program may be that much longer than its file.
    private static let overhang: Int64 = 2

    package private(set) var targets: [PassthroughTarget]
    private let fps: Int
    private let gopFrames: Int64
    let segmentFrames: Int64
    private let partFrames: Int64
    /// Short segments at the beginning of the room; passthrough does not begin before their end.
    private(set) var opening: StartupSegments?
    private var slotStart: Int64 = 0
    private var gopStart: Int64 = 0
    private var gop: Int64 = 0
    var streams: [SourceID: PassthroughStream] = [:]
    var passing: Passing?
    private var solo: SourceID?
    /// The tick of the last step.
    private(set) var tick: Int64 = .min
    /// The GOP, by source and first tick, in which a key frame was last requested.
    var asked: (source: SourceID, gop: Int64)?

    /// Creates a gate that encodes all renditions.
    ///
    /// - Parameters:
    ///   - targets: Renditions in order of preference; only one at a time is passed through.
    ///   - segmentFrames: Length of a full segment in ticks. `gopFrames` and `partFrames` are in ticks too.
    package init(targets: [PassthroughTarget], fps: Int, gopFrames: Int, segmentFrames: Int, partFrames: Int) {
        self.targets = targets
        self.fps = max(1, fps)
        self.gopFrames = Int64(max(1, gopFrames))
        self.segmentFrames = Int64(max(1, segmentFrames))
        self.partFrames = Int64(max(1, partFrames))
    }

    /// Sets new bit rates of a rendition. If the stream that is passed through exceeds them, passthrough ends.
    package mutating func setRates(_ rates: BitRates, track: Int) {
        for index in self.targets.indices where self.targets[index].track == track { self.targets[index].rates = rates }
        if self.passing?.target.track == track { self.passing?.target.rates = rates }
    }

    /// Starts with the program's first tick.
    ///
    /// - Parameter opening: The short segments at the beginning; `nil`: none.
    package mutating func begin(at tick: Int64, opening: StartupSegments? = nil) {
        self.opening = tick == 0 ? opening : nil
        self.slotStart = tick / self.segmentFrames * self.segmentFrames
        self.gopStart = tick / self.gopFrames * self.gopFrames
        self.gop = tick / self.gopFrames
    }

    /// Receives a coded frame, a new configuration or the end of a source's publication.
    package mutating func receive(_ source: SourceID, _ item: ProgramPacket) {
        self.streams[source, default: PassthroughStream(fps: self.fps)].receive(item)
    }

    /// Removes a source, unless its packets are being passed through.
    ///
    /// - Returns: `false` if its packets are being passed through.
    package mutating func forget(_ source: SourceID) -> Bool {
        guard self.passing?.source != source else { return false }
        self.streams[source] = nil
        return true
    }

    /// Returns the codec configuration of a source that could be passed through as a rendition, judged by that
    /// configuration alone: the source that fills the canvas if it fits, otherwise the first by name. `nil` if no
    /// source fits.
    package func foreseen(_ track: Int) -> CodecParameters? {
        guard let target = self.targets.first(where: { $0.track == track }) else { return nil }
        let sources = self.streams.keys.sorted {
            ($0 == self.solo ? "" : $0.description) < ($1 == self.solo ? "" : $1.description)
        }
        for source in sources {
            guard let stream = self.streams[source], !stream.isEnded, let parameters = stream.parameters,
                target.misfit(of: stream, parameters) == nil
            else { continue }
            return parameters
        }
        return nil
    }

    /// The rendition and the source of the current passthrough; `nil` if all renditions are encoded.
    package var current: (track: Int, source: SourceID)? { self.passing.map { ($0.target.track, $0.source) } }
    /// Whether a source is passed through and no reason to end this is known.
    package var isSteady: Bool { self.passing.map { $0.leaving == nil } ?? false }

    /// Returns why a rendition is encoded; `nil` if a source is passed through instead.
    package func reason(_ track: Int) -> PassthroughCause? {
        if self.passing?.target.track == track { return nil }
        guard let target = self.targets.first(where: { $0.track == track }) else { return .off }
        guard let solo = self.solo else { return .scene }
        guard let stream = self.streams[solo] else { return .lost }
        return target.refusal(of: stream, limit: self.segmentFrames, isJoining: true)
            ?? (self.isProven(stream) ? .settling : stream.trouble ?? .settling)
    }

    private func isProven(_ stream: PassthroughStream) -> Bool {
        stream.goodGops >= (stream.trouble == nil ? Self.proof.first : Self.proof.again)
    }

    /// Minimum length of a segment in ticks (125 ms); a shorter one might contain no audio frame.
    private var shortest: Int64 { Int64((self.fps + 7) / 8) }
    /// How late a frame may be, in ticks (200 ms); the previous frame is shown meanwhile.
    private var patience: Int64 { Int64((self.fps + 4) / 5) }

    // MARK: Ticks

    /// Processes the next tick. Must be called once for every tick of the program, in order.
    package mutating func step(_ tick: Int64, _ facts: Facts) -> Step {
        var step = Step(step: TickPlan(gop: self.gop))
        self.solo = facts.solo
        self.tick = tick
        if let opening = self.opening, tick > opening.end { self.opening = nil }
        let isNewSlot = tick - self.slotStart >= (self.opening?.frames ?? self.segmentFrames)
        if isNewSlot { self.slotStart = tick }
        var isKey = isNewSlot
        if self.passing != nil {
            self.pass(tick, facts, isNewSlot: isNewSlot, &step, &isKey)
        } else if !facts.isResized, self.opening == nil {
            self.join(tick, facts, &step)
        }
        for source in self.streams.keys where source != self.passing?.source {
            self.streams[source]?.dropChunks(before: tick + 1)
        }
        if facts.isResized, !step.isCut, tick != self.slotStart {
            step.isCut = true
            step.isBreak = true
        }
        if step.isCut {
            self.opening = nil
            self.slotStart = tick
            isKey = true
        }
        if self.passing == nil, tick - self.gopStart >= self.gopFrames { isKey = true }
        if isKey {
            self.gop += 1
            self.gopStart = tick
        }
        step.step.gop = self.gop
        // Nothing falls asleep or wakes in the short segments at the beginning.
        step.step.beginsSegment = tick == self.slotStart && self.opening == nil
        step.keyFrameSource = self.keyFrameRequest(facts)
        return step
    }

    /// Whether a segment is still open if the program ends before `tick`.
    package func isOpen(at tick: Int64) -> Bool { tick != self.slotStart }

    private mutating func join(_ tick: Int64, _ facts: Facts, _ step: inout Step) {
        let length = tick - self.slotStart
        guard let source = facts.solo, length == 0 || length * 2 >= self.partFrames else { return }
        self.streams[source]?.dropChunks(before: tick)
        guard let stream = self.streams[source], let chunk = stream.chunks.first, chunk.isKey, chunk.first == tick,
            self.isProven(stream), let parameters = stream.parameters,
            let target = self.targets.first(where: {
                $0.refusal(of: stream, limit: self.segmentFrames, isJoining: true) == nil
            })
        else { return }
        self.passing = Passing(target: target, source: source, released: tick)
        step.isCut = true
        step.isBreak = true
        step.change = .began(track: target.track, source: source)
        step.step.pass = TickPlan.Pass(
            track: target.track, packets: [],
            stream: TickPlan.Stream(parameters: parameters, width: target.width, height: target.height))
        self.release(&step)
    }

    private mutating func release(_ step: inout Step) {
        guard let source = self.passing?.source, let chunk = self.streams[source]?.popFirst() else { return }
        step.step.pass?.packets += chunk.packets
        self.passing?.released = chunk.end
    }

    private mutating func pass(
        _ tick: Int64, _ facts: Facts, isNewSlot: Bool, _ step: inout Step, _ isKey: inout Bool
    ) {
        guard var passing = self.passing, let stream = self.streams[passing.source] else { return }
        step.step.pass = TickPlan.Pass(track: passing.target.track, packets: [])
        if passing.leaving == nil {
            let cause =
                facts.solo != passing.source || facts.isResized
                ? .scene : passing.target.refusal(of: stream, limit: self.segmentFrames, isJoining: false)
            // If the publisher has disconnected, its frames are shown up to the last one.
            if let cause, cause != .lost { passing.leaving = (cause, tick) }
            self.passing = passing
        }
        var fault: PassthroughCause?
        var hasKey = false
        while fault == nil, !self.canLeave(tick, facts), let passing = self.passing,
            let chunk = self.streams[passing.source]?.chunks.first, chunk.first <= tick
        {
            fault = self.fault(of: chunk, at: tick)
            guard fault == nil else { break }
            if chunk.isKey {
                hasKey = true
                if self.isToCut(at: tick) { step.isCut = true }
            }
            self.release(&step)
        }
        if fault == nil, isNewSlot, !hasKey { fault = self.stopCause(tick) ?? .keyInterval }
        if fault == nil, let released = self.passing?.released, tick >= released,
            tick - released >= (self.hasRunDry ? Self.overhang : self.patience)
        {
            fault = self.stopCause(tick) ?? .gap
        }
        isKey = isKey || hasKey
        let isForced = isNewSlot && !hasKey || facts.isResized
        if facts.isResized { fault = fault ?? .scene }
        if let fault, self.passing?.leaving == nil { self.passing?.leaving = (fault, tick) }
        guard let cause = self.passing?.leaving?.cause, isForced || !hasKey, fault != nil || self.canLeave(tick, facts),
            isForced || self.isClear(tick)
        else { return }
        self.leave(tick, cause, &step)
    }

    /// Whether the publisher has disconnected and all its packets are output.
    private var hasRunDry: Bool {
        guard let source = self.passing?.source, let stream = self.streams[source] else { return true }
        return stream.isEnded && stream.chunks.isEmpty
    }

    private func stopCause(_ tick: Int64) -> PassthroughCause? {
        guard let passing = self.passing, let stream = self.streams[passing.source] else { return .lost }
        return stream.isEnded ? .lost : stream.trouble
    }

    /// Whether no frame of this tick or a later one is output yet, and the segment is long enough to end.
    private func isClear(_ tick: Int64) -> Bool {
        guard let released = self.passing?.released, tick >= released else { return false }
        let length = tick - self.slotStart
        return length == 0 || length >= self.shortest
    }

    private func canLeave(_ tick: Int64, _ facts: Facts) -> Bool {
        guard let leaving = self.passing?.leaving, self.isClear(tick) else { return false }
        return facts.isFresh || tick - leaving.since >= self.patience
    }

    /// Returns why a chunk must not be output; `nil` if it may be.
    private func fault(of chunk: PassthroughStream.Chunk, at tick: Int64) -> PassthroughCause? {
        guard let passing = self.passing else { return .lost }
        if chunk.isKey {
            guard chunk.isContinued, chunk.first >= passing.released else {
                return self.streams[passing.source]?.trouble ?? .settling
            }
            return chunk.first < tick ? .late : nil
        }
        guard chunk.first == passing.released else { return .gap }
        return chunk.end > self.slotStart + self.segmentFrames ? .keyInterval : nil
    }

    /// Whether a segment must begin with the IDR frame of a tick, because at the next IDR frame the open segment would
    /// be too long.
    private func isToCut(at tick: Int64) -> Bool {
        let length = tick - self.slotStart
        guard length >= self.shortest, let source = self.passing?.source else { return false }
        let longest = self.streams[source]?.longestGop ?? self.segmentFrames
        return length + longest > self.segmentFrames
    }

    private mutating func leave(_ tick: Int64, _ cause: PassthroughCause, _ step: inout Step) {
        guard let passing = self.passing else { return }
        step.isCut = true
        step.isBreak = true
        step.change = .ended(track: passing.target.track, source: passing.source, cause)
        // Packets that came late belong to the segment that ends.
        if step.step.pass?.packets.isEmpty ?? true { step.step.pass = nil } else { step.step.pass?.isLast = true }
        self.passing = nil
        if cause != .scene { self.streams[passing.source]?.distrust(cause) }
    }
}
