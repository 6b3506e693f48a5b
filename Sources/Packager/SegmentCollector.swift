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
    private var nextSlot: Int64
    private var pending: [Int64: [FinishedSegment?]] = [:]
    private var changes: [Int64: [ConfigurationChange]] = [:]
    private var breaks: Set<Int64> = []
    /// Segment boundaries; `nil` if all segments have the regular length.
    var boundaries: SegmentBoundaries?
    private var ready: [AlignedSegment] = []
    private var anythingTaken = false
    private(set) var isClosed = false
    private var givenUp: [(slot: Int64, track: Int)] = []
    /// By track, the segments in which it sleeps and no media is expected of it.
    private var naps: [Int: [Range<Int64>]] = [:]

    init(kinds: [TrackKind], firstSlot: Int64, waits: Bool) {
        self.kinds = kinds
        self.nextSlot = firstSlot
        self.waits = waits
    }

    /// Number of complete segments that wait to be published.
    var readyCount: Int { self.ready.count }

    /// Sets the first segment of the run, even if it has no media.
    mutating func begin(at slot: Int64) {
        guard !self.anythingTaken else { return }
        self.anythingTaken = true
        self.nextSlot = max(self.nextSlot, slot)
    }

    /// Returns the tracks that got a gap because they lagged behind or ended earlier, with the index of the segment,
    /// since the last call.
    mutating func takeGivenUp() -> [(slot: Int64, track: Int)] {
        defer { self.givenUp.removeAll() }
        return self.givenUp
    }

    /// Changes a track's codec configuration from segment `slot` on or, if that is already complete, from the first
    /// incomplete segment on.
    mutating func change(_ change: ConfigurationChange, from slot: Int64) {
        guard !self.isClosed else { return }
        self.changes[max(slot, self.nextSlot), default: []].append(change)
    }

    /// Adds a discontinuity before segment `slot` or, if that is already complete, before the first incomplete segment.
    mutating func breakTime(at slot: Int64) {
        if !self.isClosed { self.breaks.insert(max(slot, self.nextSlot)) }
    }

    /// Adds a track's segment. It is dropped if its interval was already completed with a gap.
    mutating func insert(_ segment: FinishedSegment, track: Int) {
        guard !self.isClosed, segment.slot >= self.nextSlot, self.kinds.indices.contains(track) else { return }
        self.pending[segment.slot, default: Array(repeating: nil, count: self.kinds.count)][track] = segment
        self.promote()
    }

    /// Notes that a track has no media from segment `slot` on, until ``wake(track:at:)``.
    mutating func sleep(track: Int, from slot: Int64) {
        self.naps[track, default: []].append(slot..<Int64.max)
        if !self.isClosed { self.promote() }
    }

    /// Notes that a sleeping track has media again from segment `slot` on.
    mutating func wake(track: Int, at slot: Int64) {
        guard let nap = self.naps[track]?.popLast() else { return }
        if slot > nap.lowerBound { self.naps[track]?.append(nap.lowerBound..<slot) }
    }

    /// Index of the first track that does not sleep now; 0 if all sleep.
    var firstAwake: Int {
        guard !self.naps.isEmpty else { return 0 }
        return self.kinds.indices.first { self.naps[$0]?.last?.upperBound != .max } ?? 0
    }

    /// Returns the tracks that sleep in a segment.
    private func sleepers(in slot: Int64) -> Set<Int> {
        guard !self.naps.isEmpty else { return [] }
        return Set(self.naps.filter { $0.value.contains { $0.contains(slot) } }.keys)
    }

    private mutating func promote() {
        while let newest = self.pending.keys.max(), newest >= self.nextSlot {
            let row = self.pending[self.nextSlot] ?? Array(repeating: nil, count: self.kinds.count)
            let asleep = self.sleepers(in: self.nextSlot)
            let isComplete = row.indices.allSatisfy { row[$0] != nil || asleep.contains($0) }
            guard isComplete || (!self.waits && self.isTooFarBehind(newest)) else { return }
            self.pass(row)
        }
    }

    /// Whether the slowest track lags too far behind the newest segment. Shorter segments count with their actual
    /// length.
    private func isTooFarBehind(_ newest: Int64) -> Bool {
        guard let boundaries = self.boundaries else { return newest - self.nextSlot >= Self.longestLag }
        let frames = boundaries.firstFrame(ofSlot: newest) - boundaries.firstFrame(ofSlot: self.nextSlot)
        return frames >= Self.longestLag * Int64(boundaries.grid.segmentFrames)
    }

    private mutating func pass(_ row: [FinishedSegment?]) {
        var slot = AlignedSegment(slot: self.nextSlot, segments: row)
        slot.changes = self.changes.removeValue(forKey: self.nextSlot) ?? []
        slot.isBreak = self.breaks.remove(self.nextSlot) != nil
        slot.frames = self.boundaries?.frames(ofSlot: self.nextSlot)
        slot.asleep = self.sleepers(in: self.nextSlot)
        self.pending[self.nextSlot] = nil
        self.nextSlot += 1
        if !self.naps.isEmpty {
            self.naps = self.naps.mapValues { $0.filter { $0.upperBound > self.nextSlot } }.filter { !$0.value.isEmpty }
        }
        // No gaps are listed before the first media of a run.
        guard self.anythingTaken || !slot.isEmpty else {
            if !slot.changes.isEmpty { self.changes[self.nextSlot, default: []] += slot.changes }
            if slot.isBreak { self.breaks.insert(self.nextSlot) }
            return
        }
        self.anythingTaken = true
        for index in row.indices where row[index] == nil && !slot.asleep.contains(index) {
            self.givenUp.append((slot.slot, index))
        }
        self.ready.append(slot)
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
        let last = self.pending.keys.max() ?? self.nextSlot - 1
        while self.nextSlot <= last {
            var row = self.pending[self.nextSlot] ?? Array(repeating: nil, count: self.kinds.count)
            if let end {
                let cut = grid.ticks(ofFrame: end, .audio)
                for index in row.indices where self.kinds[index] == .audio { row[index] = row[index]?.trimmed(to: cut) }
            }
            if row.allSatisfy({ $0?.gap ?? true }), self.pending.keys.allSatisfy({ $0 <= self.nextSlot }) { break }
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
