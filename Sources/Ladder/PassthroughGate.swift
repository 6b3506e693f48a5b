package import MediaTypes

/// Where the segments and GOPs of a room begin while one of its renditions may have a publisher's own packets, and when it
/// has: a value, without threads or clocks. Packets and facts of every tick in, what is to be done at the tick out.
///
/// States: encoding ⇄ passing. Passing begins at an IDR picture of the one source that fills the canvas; it ends at once
/// with anything the rendition does not ask for, between two chunks of the stream; both with a cut and a break in every
/// playlist. It keeps these:
/// 1. A segment begins with an IDR picture in every rendition, and none is longer than the grid's.
/// 2. What passes is a whole run of ticks: each tick has one picture, but the last before a cut, which may be held.
/// 3. A packet goes out at most once, in decoding order, no earlier than its first tick.
package struct PassthroughGate: Sendable {
    /// What the program shows at a tick.
    package struct Facts: Sendable {
        /// The one source that fills the canvas, with nothing over it.
        package var solo: SourceID?
        /// The canvas has another size than at the tick before.
        package var isResized = false
        /// The canvas shows the present: an encoder may go on with it.
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
        package var step: TickStep
        /// The slot that is open ends before this tick.
        package var isCut = false
        /// Time is broken there.
        package var isBreak = false
        package var change: Change?
    }

    private struct Passing {
        var target: PassthroughTarget
        var source: SourceID
        /// Behind the last tick that is out.
        var released: Int64
        /// Why it is to end, and since when.
        var leaving: (cause: PassthroughCause, since: Int64)?
    }

    /// Good GOPs a stream shows before it is let in, and after it has broken a rule.
    private static let proof = (first: 1, again: 2)
    /// Ticks a program may be longer than its last file.
    private static let overhang: Int64 = 2

    package private(set) var targets: [PassthroughTarget]
    private let fps: Int
    private let gopFrames: Int64
    private let segmentFrames: Int64
    private let partFrames: Int64
    /// Short segments that the room begins with; nothing passes before they are over.
    private var opening: OpeningSegments?
    private var slotStart: Int64 = 0
    private var gopStart: Int64 = 0
    private var gop: Int64 = 0
    private var streams: [SourceID: PassthroughStream] = [:]
    private var passing: Passing?
    private var solo: SourceID?

    /// - Parameters:
    ///   - targets: Renditions in the order in which they are preferred; one at a time passes.
    ///   - segmentFrames: Ticks of a whole segment; GOPs and parts likewise.
    package init(targets: [PassthroughTarget], fps: Int, gopFrames: Int, segmentFrames: Int, partFrames: Int) {
        self.targets = targets
        self.fps = max(1, fps)
        self.gopFrames = Int64(max(1, gopFrames))
        self.segmentFrames = Int64(max(1, segmentFrames))
        self.partFrames = Int64(max(1, partFrames))
    }

    /// A rendition asks for other bit rates from here on; one that passes and is beyond them has to leave.
    package mutating func setRates(_ rates: BitRates, track: Int) {
        for index in self.targets.indices where self.targets[index].track == track { self.targets[index].rates = rates }
        if self.passing?.target.track == track { self.passing?.target.rates = rates }
    }

    /// The program begins with a tick.
    ///
    /// - Parameter opening: The short segments it begins with; `nil`: none.
    package mutating func begin(at tick: Int64, opening: OpeningSegments? = nil) {
        self.opening = tick == 0 ? opening : nil
        self.slotStart = tick / self.segmentFrames * self.segmentFrames
        self.gopStart = tick / self.gopFrames * self.gopFrames
        self.gop = tick / self.gopFrames
    }

    /// What a source sends.
    package mutating func receive(_ source: SourceID, _ item: ProgramItem) {
        self.streams[source, default: PassthroughStream(fps: self.fps)].receive(item)
    }

    /// The source is gone. One whose packets pass is kept until they have left.
    ///
    /// - Returns: Whether nothing of it is kept.
    package mutating func forget(_ source: SourceID) -> Bool {
        guard self.passing?.source != source else { return false }
        self.streams[source] = nil
        return true
    }

    /// The configuration of a source that may come to stand for a rendition, by what it has told of its codec so far: the one that
    /// fills the canvas, or else the first by name. `nil`: there is none.
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

    /// Whose packets pass, and into which rendition.
    package var current: (track: Int, source: SourceID)? { self.passing.map { ($0.target.track, $0.source) } }
    /// It is passing, and nothing speaks against it.
    package var isSteady: Bool { self.passing.map { $0.leaving == nil } ?? false }

    /// Why a rendition does not pass; `nil`: it does.
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

    /// A slot shorter than this has no sound of its own in every case.
    private var shortest: Int64 { Int64((self.fps + 7) / 8) }
    /// How late a picture may be: the one before is shown so long.
    private var patience: Int64 { Int64((self.fps + 4) / 5) }

    // MARK: Ticks

    /// The next tick. Every tick of the program comes here once, in order.
    package mutating func step(_ tick: Int64, _ facts: Facts) -> Step {
        var step = Step(step: TickStep(gop: self.gop))
        self.solo = facts.solo
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
        return step
    }

    /// Whether the program, which has ended before a tick, has left a segment open.
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
        step.step.pass = TickStep.Pass(
            track: target.track, packets: [],
            stream: TickStep.Stream(parameters: parameters, width: target.width, height: target.height))
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
        step.step.pass = TickStep.Pass(track: passing.target.track, packets: [])
        if passing.leaving == nil {
            let cause =
                facts.solo != passing.source || facts.isResized
                ? .scene : passing.target.refusal(of: stream, limit: self.segmentFrames, isJoining: false)
            // A publisher that is gone is shown to its last picture.
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

    /// The publisher is gone and all it sent is out.
    private var hasRunDry: Bool {
        guard let source = self.passing?.source, let stream = self.streams[source] else { return true }
        return stream.isEnded && stream.chunks.isEmpty
    }

    private func stopCause(_ tick: Int64) -> PassthroughCause? {
        guard let passing = self.passing, let stream = self.streams[passing.source] else { return .lost }
        return stream.isEnded ? .lost : stream.trouble
    }

    /// Nothing of this tick or a later one is out, and the slot is long enough to end.
    private func isClear(_ tick: Int64) -> Bool {
        guard let released = self.passing?.released, tick >= released else { return false }
        let length = tick - self.slotStart
        return length == 0 || length >= self.shortest
    }

    private func canLeave(_ tick: Int64, _ facts: Facts) -> Bool {
        guard let leaving = self.passing?.leaving, self.isClear(tick) else { return false }
        return facts.isFresh || tick - leaving.since >= self.patience
    }

    /// What keeps a chunk from going out.
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

    /// Whether a segment begins with the IDR picture of a tick: the next one would come too late.
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
        // What came late belongs to the segment that ends.
        if step.step.pass?.packets.isEmpty ?? true { step.step.pass = nil } else { step.step.pass?.isLast = true }
        self.passing = nil
        if cause != .scene { self.streams[passing.source]?.distrust(cause) }
    }
}
