package import MediaTypes

/// Where the segments of a room begin: on the grid, until one is cut short.
///
/// Every slot behind a cut begins a grid's length behind the one before it, so that a room that is never cut lies on the
/// grid. None is longer than the grid's: nothing a player must never see change is moved by a cut.
package struct SlotTable: Sendable, Hashable {
    private struct Cut: Sendable, Hashable {
        var slot: Int64
        var frame: Int64
        /// An earlier cut replaces it.
        var isPlanned = false
    }

    /// Cuts that are known: three hours of segments of ten seconds, and no segment is open for longer.
    private static let remembered = 1_024

    package let grid: OutputGrid
    /// Rising in both.
    private var cuts: [Cut] = []

    package init(grid: OutputGrid) { self.grid = grid }

    /// A slot begins with a frame of the one that would hold it.
    ///
    /// - Parameter frame: Behind all cuts before.
    /// - Returns: The slot that begins with it; `nil` for a frame in the past.
    @discardableResult
    package mutating func cut(at frame: Int64) -> Int64? {
        self.cuts.removeAll { $0.isPlanned && $0.frame > frame }
        return self.add(frame, isPlanned: false)
    }

    /// Slots begin with these frames, unless a cut at an earlier one comes first.
    ///
    /// - Parameter frames: Rising, and behind all cuts before.
    package mutating func plan(cuts frames: [Int64]) {
        for frame in frames { self.add(frame, isPlanned: true) }
    }

    @discardableResult
    private mutating func add(_ frame: Int64, isPlanned: Bool) -> Int64? {
        guard frame >= 0, frame < OutputGrid.lastTick / OutputGrid.ticksPerFrame,
            self.cuts.last.map({ frame >= $0.frame }) ?? true
        else { return nil }
        let slot = self.slot(ofFrame: frame)
        guard self.firstFrame(ofSlot: slot) < frame else { return slot }
        self.cuts.append(Cut(slot: slot + 1, frame: frame, isPlanned: isPlanned))
        if self.cuts.count > Self.remembered { self.cuts.removeFirst() }
        return slot + 1
    }

    private func lastCut(where isBefore: (Cut) -> Bool) -> Int? {
        // The newest few are asked for.
        self.cuts.lastIndex(where: isBefore)
    }

    /// The slot that holds a frame.
    package func slot(ofFrame frame: Int64) -> Int64 {
        let length = Int64(self.grid.segmentFrames)
        guard let index = self.lastCut(where: { $0.frame <= frame }) else { return max(0, frame) / length }
        return self.cuts[index].slot + (frame - self.cuts[index].frame) / length
    }

    /// First frame of the slot.
    package func firstFrame(ofSlot slot: Int64) -> Int64 {
        let length = Int64(self.grid.segmentFrames)
        let index = self.lastCut(where: { $0.slot <= slot })
        let frame = index.map { self.cuts[$0].frame + (slot - self.cuts[$0].slot) * length } ?? slot * length
        let next = index.map { $0 + 1 } ?? 0
        return self.cuts.indices.contains(next) ? min(frame, self.cuts[next].frame) : frame
    }

    /// Frames of the slot, as far as it is known where it ends.
    package func frames(ofSlot slot: Int64) -> Range<Int64> {
        let first = self.firstFrame(ofSlot: slot)
        return first..<max(first, self.firstFrame(ofSlot: slot + 1))
    }

    /// First frame of the part; of a part that a cut has left nothing of, the next slot's.
    package func firstFrame(ofPart part: Int64) -> Int64 {
        let slot = self.grid.slot(ofPart: part)
        let ahead = (part - slot * Int64(self.grid.partsPerSegment)) * Int64(self.grid.partFrames)
        return min(self.firstFrame(ofSlot: slot) + ahead, self.firstFrame(ofSlot: slot + 1))
    }

    /// Number of the part that holds the instant; see ``OutputGrid/part(at:of:)``.
    package func part(at ticks: Int64, of kind: TrackKind) -> Int64 {
        guard !self.cuts.isEmpty else { return self.grid.part(at: ticks, of: kind) }
        let frame =
            switch kind {
            case .video: TimeMath.scale(ticks, by: 1, over: OutputGrid.ticksPerFrame, rounding: .down)
            case .audio:
                TimeMath.scale(ticks, by: Int64(self.grid.fps), over: Int64(self.grid.sampleRate), rounding: .down)
            }
        let slot = self.slot(ofFrame: frame)
        let index = max(0, frame - self.firstFrame(ofSlot: slot)) / Int64(self.grid.partFrames)
        return slot * Int64(self.grid.partsPerSegment) + min(index, Int64(self.grid.partsPerSegment) - 1)
    }

    /// The first tick that lies in the part; see ``OutputGrid/startOfPart(_:of:)``.
    package func startOfPart(_ part: Int64, of kind: TrackKind) -> Int64 {
        guard !self.cuts.isEmpty else { return self.grid.startOfPart(part, of: kind) }
        return self.grid.ticks(ofFrame: self.firstFrame(ofPart: part), kind)
    }

    /// The part that follows, of this slot or the next.
    package func partAfter(_ part: Int64) -> Int64 {
        guard !self.cuts.isEmpty else { return part + 1 }
        let next = (self.grid.slot(ofPart: part) + 1) * Int64(self.grid.partsPerSegment)
        return self.firstFrame(ofPart: part + 1) >= self.firstFrame(ofPart: next) ? next : part + 1
    }
}
