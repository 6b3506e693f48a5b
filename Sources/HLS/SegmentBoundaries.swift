package import MediaTypes

/// The first frame of every segment of a room, regular until a segment is cut short.
///
/// After a cut, every segment begins one full segment length after the previous one; a room without cuts keeps the
/// boundaries of its grid. No segment is longer than the full length, so a cut never changes the values that must stay
/// constant for players.
package struct SegmentBoundaries: Sendable, Hashable {
    private struct Cut: Sendable, Hashable {
        var segmentIndex: Int64
        var frame: Int64
        /// Whether the cut is only planned, so that a cut at an earlier frame replaces it.
        var isPlanned = false
    }

    /// Maximum number of cuts that are stored; the oldest are dropped, since their segments were completed long ago.
    private static let remembered = 1_024

    package let grid: OutputGrid
    /// The cuts, in increasing order of segment index and frame.
    private var cuts: [Cut] = []

    package init(grid: OutputGrid) { self.grid = grid }

    /// Cuts the segment that contains a frame: the next segment begins with this frame.
    ///
    /// - Parameter frame: A frame that is not before any earlier cut.
    /// - Returns: Index of the segment that begins with the frame; `nil` for a frame before an earlier cut or out of
    ///   range.
    @discardableResult
    package mutating func cut(at frame: Int64) -> Int64? {
        self.cuts.removeAll { $0.isPlanned && $0.frame > frame }
        return self.add(frame, isPlanned: false)
    }

    /// Plans cuts at these frames. A ``cut(at:)`` at an earlier frame discards the planned ones after it.
    ///
    /// - Parameter frames: Frames in increasing order, not before any earlier cut.
    package mutating func plan(cuts frames: [Int64]) {
        for frame in frames { self.add(frame, isPlanned: true) }
    }

    @discardableResult
    private mutating func add(_ frame: Int64, isPlanned: Bool) -> Int64? {
        guard frame >= 0, frame < OutputGrid.lastTick / OutputGrid.ticksPerFrame,
            self.cuts.last.map({ frame >= $0.frame }) ?? true
        else { return nil }
        let segmentIndex = self.segmentIndex(ofFrame: frame)
        guard self.firstFrame(ofSegment: segmentIndex) < frame else { return segmentIndex }
        self.cuts.append(Cut(segmentIndex: segmentIndex + 1, frame: frame, isPlanned: isPlanned))
        if self.cuts.count > Self.remembered { self.cuts.removeFirst() }
        return segmentIndex + 1
    }

    private func lastCut(where isBefore: (Cut) -> Bool) -> Int? {
        // The search begins at the end, since callers mostly ask for the newest cuts.
        self.cuts.lastIndex(where: isBefore)
    }

    /// Returns the index of the segment that contains a frame.
    package func segmentIndex(ofFrame frame: Int64) -> Int64 {
        let length = Int64(self.grid.segmentFrames)
        guard let index = self.lastCut(where: { $0.frame <= frame }) else { return max(0, frame) / length }
        return self.cuts[index].segmentIndex + (frame - self.cuts[index].frame) / length
    }

    /// Returns the first frame of a segment.
    package func firstFrame(ofSegment segmentIndex: Int64) -> Int64 {
        let length = Int64(self.grid.segmentFrames)
        let index = self.lastCut(where: { $0.segmentIndex <= segmentIndex })
        let frame =
            index.map { self.cuts[$0].frame + (segmentIndex - self.cuts[$0].segmentIndex) * length } ?? segmentIndex
            * length
        let next = index.map { $0 + 1 } ?? 0
        return self.cuts.indices.contains(next) ? min(frame, self.cuts[next].frame) : frame
    }

    /// Returns the frames of a segment. A later cut can still shorten a segment that is not complete.
    package func frames(ofSegment segmentIndex: Int64) -> Range<Int64> {
        let first = self.firstFrame(ofSegment: segmentIndex)
        return first..<max(first, self.firstFrame(ofSegment: segmentIndex + 1))
    }

    /// Returns the first frame of a part; if a cut has removed the part entirely, the first frame of the next segment.
    package func firstFrame(ofPart part: Int64) -> Int64 {
        let segmentIndex = self.grid.segmentIndex(ofPart: part)
        let ahead = (part - segmentIndex * Int64(self.grid.partsPerSegment)) * Int64(self.grid.partFrames)
        return min(self.firstFrame(ofSegment: segmentIndex) + ahead, self.firstFrame(ofSegment: segmentIndex + 1))
    }

    /// Returns the number of the part that contains a media time; see ``OutputGrid/part(at:of:)``.
    package func part(at ticks: Int64, of kind: TrackKind) -> Int64 {
        guard !self.cuts.isEmpty else { return self.grid.part(at: ticks, of: kind) }
        let frame =
            switch kind {
            case .video: TimeMath.scale(ticks, by: 1, over: OutputGrid.ticksPerFrame, rounding: .down)
            case .audio:
                TimeMath.scale(ticks, by: Int64(self.grid.fps), over: Int64(self.grid.sampleRate), rounding: .down)
            }
        let segmentIndex = self.segmentIndex(ofFrame: frame)
        let index = max(0, frame - self.firstFrame(ofSegment: segmentIndex)) / Int64(self.grid.partFrames)
        return segmentIndex * Int64(self.grid.partsPerSegment) + min(index, Int64(self.grid.partsPerSegment) - 1)
    }

    /// Returns the first tick of a part; see ``OutputGrid/startOfPart(_:of:)``.
    package func startOfPart(_ part: Int64, of kind: TrackKind) -> Int64 {
        guard !self.cuts.isEmpty else { return self.grid.startOfPart(part, of: kind) }
        return self.grid.ticks(ofFrame: self.firstFrame(ofPart: part), kind)
    }

    /// Returns the number of the next part that exists, in the same segment or the next one.
    package func partAfter(_ part: Int64) -> Int64 {
        guard !self.cuts.isEmpty else { return part + 1 }
        let next = (self.grid.segmentIndex(ofPart: part) + 1) * Int64(self.grid.partsPerSegment)
        return self.firstFrame(ofPart: part + 1) >= self.firstFrame(ofPart: next) ? next : part + 1
    }
}
