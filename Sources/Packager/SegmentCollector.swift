import HLS
import MediaTypes

/// Collects the segments of all tracks for each segment interval, so that they are published in all playlists at the
/// same time.
///
/// States: *open* until ``close(cuttingAudioAt:grid:)`` or ``abandon()``, then *closed*. Completed intervals are taken
/// in order, each at most once.
struct SegmentCollector: Sendable {
    /// Lag of a track behind the fastest one at which it gets a gap in live rooms, in durations of a regular segment:
    /// an encoder that hangs must not stall the viewers of other renditions for longer than they have buffered.
    static let longestLag: Int64 = 2

    /// Maximum number of segments that keep their media while they wait for a hanging store (a minute of two-second
    /// segments). Beyond it, the oldest become gaps, which bounds the memory of a room.
    static let mostReady = 32

    private let kinds: [TrackKind]
    /// Whether to wait for all tracks, however far one lags behind, as in offline jobs.
    private let waits: Bool
    /// Index of the first segment interval that is not complete.
    private var nextSegmentIndex: Int64
    private var pending: [Int64: [FinishedSegment?]] = [:]
    private var changes: [Int64: [ConfigurationChange]] = [:]
    private var breaks: Set<Int64> = []
    /// Segment boundaries; `nil` if all segments have the regular length.
    var boundaries: SegmentBoundaries?
    private var ready: [AlignedSegment] = []
    private var anythingTaken = false
    private(set) var isClosed = false
    private var givenUp: [(segmentIndex: Int64, track: Int)] = []
    /// By track, the segments in which it sleeps and no media is expected of it.
    private var naps: [Int: [Range<Int64>]] = [:]

    init(kinds: [TrackKind], firstSegmentIndex: Int64, waits: Bool) {
        self.kinds = kinds
        self.nextSegmentIndex = firstSegmentIndex
        self.waits = waits
    }

    /// Number of complete segments that wait to be published.
    var readyCount: Int { self.ready.count }

    /// Sets the first segment of the run, even if it has no media.
    mutating func begin(at segmentIndex: Int64) {
        guard !self.anythingTaken else { return }
        self.anythingTaken = true
        self.nextSegmentIndex = max(self.nextSegmentIndex, segmentIndex)
    }

    /// Returns the tracks that got a gap because they lagged behind or ended earlier, with the index of the segment,
    /// since the last call.
    mutating func takeGivenUp() -> [(segmentIndex: Int64, track: Int)] {
        defer { self.givenUp.removeAll() }
        return self.givenUp
    }

    /// Changes a track's codec configuration from segment `segmentIndex` on or, if that is already complete, from the first
    /// incomplete segment on.
    mutating func change(_ change: ConfigurationChange, from segmentIndex: Int64) {
        guard !self.isClosed else { return }
        self.changes[max(segmentIndex, self.nextSegmentIndex), default: []].append(change)
    }

    /// Adds a discontinuity before segment `segmentIndex` or, if that is already complete, before the first incomplete segment.
    mutating func breakTime(at segmentIndex: Int64) {
        if !self.isClosed { self.breaks.insert(max(segmentIndex, self.nextSegmentIndex)) }
    }

    /// Adds a track's segment. It is dropped if its interval was already completed with a gap.
    mutating func insert(_ segment: FinishedSegment, track: Int) {
        guard !self.isClosed, segment.segmentIndex >= self.nextSegmentIndex, self.kinds.indices.contains(track) else {
            return
        }
        self.pending[segment.segmentIndex, default: Array(repeating: nil, count: self.kinds.count)][track] = segment
        self.promote()
    }

    /// Notes that a track has no media from segment `segmentIndex` on, until ``wake(track:at:)``.
    mutating func sleep(track: Int, from segmentIndex: Int64) {
        self.naps[track, default: []].append(segmentIndex..<Int64.max)
        if !self.isClosed { self.promote() }
    }

    /// Notes that a sleeping track has media again from segment `segmentIndex` on.
    mutating func wake(track: Int, at segmentIndex: Int64) {
        guard let nap = self.naps[track]?.popLast() else { return }
        if segmentIndex > nap.lowerBound { self.naps[track]?.append(nap.lowerBound..<segmentIndex) }
    }

    /// Index of the first track that does not sleep now; 0 if all sleep.
    var firstAwake: Int {
        guard !self.naps.isEmpty else { return 0 }
        return self.kinds.indices.first { self.naps[$0]?.last?.upperBound != .max } ?? 0
    }

    /// Returns the tracks that sleep in a segment.
    private func sleepers(in segmentIndex: Int64) -> Set<Int> {
        guard !self.naps.isEmpty else { return [] }
        return Set(self.naps.filter { $0.value.contains { $0.contains(segmentIndex) } }.keys)
    }

    private mutating func promote() {
        while let newest = self.pending.keys.max(), newest >= self.nextSegmentIndex {
            let row = self.pending[self.nextSegmentIndex] ?? Array(repeating: nil, count: self.kinds.count)
            let asleep = self.sleepers(in: self.nextSegmentIndex)
            let isComplete = row.indices.allSatisfy { row[$0] != nil || asleep.contains($0) }
            guard isComplete || (!self.waits && self.isTooFarBehind(newest)) else { return }
            self.pass(row)
        }
    }

    /// Whether the slowest track lags too far behind the newest segment. Shorter segments count with their actual
    /// length.
    private func isTooFarBehind(_ newest: Int64) -> Bool {
        guard let boundaries = self.boundaries else { return newest - self.nextSegmentIndex >= Self.longestLag }
        let frames = boundaries.firstFrame(ofSegment: newest) - boundaries.firstFrame(ofSegment: self.nextSegmentIndex)
        return frames >= Self.longestLag * Int64(boundaries.grid.segmentFrames)
    }

    private mutating func pass(_ row: [FinishedSegment?]) {
        var segment = AlignedSegment(segmentIndex: self.nextSegmentIndex, segments: row)
        segment.changes = self.changes.removeValue(forKey: self.nextSegmentIndex) ?? []
        segment.isBreak = self.breaks.remove(self.nextSegmentIndex) != nil
        segment.frames = self.boundaries?.frames(ofSegment: self.nextSegmentIndex)
        segment.asleep = self.sleepers(in: self.nextSegmentIndex)
        self.pending[self.nextSegmentIndex] = nil
        self.nextSegmentIndex += 1
        if !self.naps.isEmpty {
            self.naps = self.naps.mapValues { $0.filter { $0.upperBound > self.nextSegmentIndex } }.filter {
                !$0.value.isEmpty
            }
        }
        // No gaps are listed before the first media of a run.
        guard self.anythingTaken || !segment.isEmpty else {
            if !segment.changes.isEmpty {
                self.changes[self.nextSegmentIndex, default: []] += segment.changes
            }
            if segment.isBreak { self.breaks.insert(self.nextSegmentIndex) }
            return
        }
        self.anythingTaken = true
        for index in row.indices where row[index] == nil && !segment.asleep.contains(index) {
            self.givenUp.append((segment.segmentIndex, index))
        }
        self.ready.append(segment)
        if !self.waits, self.ready.count > Self.mostReady {
            let oldest = self.ready.count - Self.mostReady - 1
            self.ready[oldest].segments = row.map { _ in nil }
        }
    }

    /// Ends the collection: all remaining segments are completed, and audio is cut at the end of the video.
    ///
    /// - Parameter end: Frame at which the video ends; `nil` for audio-only output.
    mutating func close(cuttingAudioAt end: Int64?, grid: OutputGrid) {
        guard !self.isClosed else { return }
        self.isClosed = true
        let last = self.pending.keys.max() ?? self.nextSegmentIndex - 1
        while self.nextSegmentIndex <= last {
            var row = self.pending[self.nextSegmentIndex] ?? Array(repeating: nil, count: self.kinds.count)
            if let end {
                let cut = grid.ticks(ofFrame: end, .audio)
                for index in row.indices where self.kinds[index] == .audio { row[index] = row[index]?.trimmed(to: cut) }
            }
            if row.allSatisfy({ $0?.gap ?? true }), self.pending.keys.allSatisfy({ $0 <= self.nextSegmentIndex }) {
                break
            }
            self.pass(row)
        }
        self.pending = [:]
    }

    /// Ends the collection and drops segments that are not complete in all tracks.
    mutating func abandon() {
        self.isClosed = true
        self.pending = [:]
    }

    /// Removes and returns the next segment to publish; `nil` if none is complete.
    mutating func take() -> AlignedSegment? { self.ready.isEmpty ? nil : self.ready.removeFirst() }
}
