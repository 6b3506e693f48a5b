import HLS
import MediaTypes

/// Brings the segments of all tracks together: a slot is published in all playlists at once.
///
/// States: *open* until ``close(cuttingSoundAt:)``, then *closed*. Slots leave in order, each at most once.
struct SlotCollector: Sendable {
    /// In an open live room a track that is behind the foremost one by the time of so many whole segments is given up for the slot: an
    /// encoder that hangs must not keep the others' viewers waiting longer than they have buffered.
    static let longestLag: Int64 = 2

    /// Slots that wait for a store that hangs keep their media up to so many: a minute of it. Behind them the oldest are
    /// listed as gaps, so that the memory of a room has a bound.
    static let mostReady = 32

    private let kinds: [TrackKind]
    /// Never gives a track up.
    private let waits: Bool
    private var nextSlot: Int64
    private var pending: [Int64: [FinishedSegment?]] = [:]
    private var changes: [Int64: [ConfigurationChange]] = [:]
    private var breaks: Set<Int64> = []
    /// Where slots begin; `nil`: on the grid.
    var slots: SlotTable?
    private var ready: [CompleteSlot] = []
    private var anythingTaken = false
    private(set) var isClosed = false
    private var givenUp: [(slot: Int64, track: Int)] = []

    init(kinds: [TrackKind], firstSlot: Int64, waits: Bool) {
        self.kinds = kinds
        self.nextSlot = firstSlot
        self.waits = waits
    }

    /// Slots that wait to be published.
    var readyCount: Int { self.ready.count }

    /// The run's first slot, even if nothing is ever in it.
    mutating func begin(at slot: Int64) {
        guard !self.anythingTaken else { return }
        self.anythingTaken = true
        self.nextSlot = max(self.nextSlot, slot)
    }

    /// Slots that were passed without a track since the last call.
    mutating func takeGivenUp() -> [(slot: Int64, track: Int)] {
        defer { self.givenUp.removeAll() }
        return self.givenUp
    }

    /// A track's configuration changes with a slot; in one that has left already, with the next.
    mutating func change(_ change: ConfigurationChange, from slot: Int64) {
        guard !self.isClosed else { return }
        self.changes[max(slot, self.nextSlot), default: []].append(change)
    }

    /// Time is broken with a slot that has not left.
    mutating func breakTime(at slot: Int64) {
        if !self.isClosed { self.breaks.insert(max(slot, self.nextSlot)) }
    }

    /// A track has finished a slot. One that was given up meanwhile is too late and is left out.
    mutating func insert(_ segment: FinishedSegment, track: Int) {
        guard !self.isClosed, segment.slot >= self.nextSlot, self.kinds.indices.contains(track) else { return }
        self.pending[segment.slot, default: Array(repeating: nil, count: self.kinds.count)][track] = segment
        self.promote()
    }

    private mutating func promote() {
        while let newest = self.pending.keys.max(), newest >= self.nextSlot {
            let row = self.pending[self.nextSlot] ?? Array(repeating: nil, count: self.kinds.count)
            let isComplete = row.allSatisfy { $0 != nil }
            guard isComplete || (!self.waits && self.isTooFarBehind(newest)) else { return }
            self.pass(row)
        }
    }

    /// Segments that were cut short count as long as they are.
    private func isTooFarBehind(_ newest: Int64) -> Bool {
        guard let slots = self.slots else { return newest - self.nextSlot >= Self.longestLag }
        let frames = slots.firstFrame(ofSlot: newest) - slots.firstFrame(ofSlot: self.nextSlot)
        return frames >= Self.longestLag * Int64(slots.grid.segmentFrames)
    }

    private mutating func pass(_ row: [FinishedSegment?]) {
        var slot = CompleteSlot(slot: self.nextSlot, segments: row)
        slot.changes = self.changes.removeValue(forKey: self.nextSlot) ?? []
        slot.isBreak = self.breaks.remove(self.nextSlot) != nil
        slot.frames = self.slots?.frames(ofSlot: self.nextSlot)
        self.pending[self.nextSlot] = nil
        self.nextSlot += 1
        // Before the first media of a run there is nothing to list a gap for.
        guard self.anythingTaken || !slot.isEmpty else {
            if !slot.changes.isEmpty { self.changes[self.nextSlot, default: []] += slot.changes }
            if slot.isBreak { self.breaks.insert(self.nextSlot) }
            return
        }
        self.anythingTaken = true
        for index in row.indices where row[index] == nil { self.givenUp.append((slot.slot, index)) }
        self.ready.append(slot)
        if !self.waits, self.ready.count > Self.mostReady {
            let oldest = self.ready.count - Self.mostReady - 1
            self.ready[oldest].segments = row.map { _ in nil }
        }
    }

    /// Nothing follows: what is there goes out, sound no further than the pictures.
    ///
    /// - Parameter end: Frame at which the pictures end; `nil` for sound alone.
    mutating func close(cuttingSoundAt end: Int64?, grid: OutputGrid) {
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

    /// Nothing follows, and of what is there only slots that are whole go out.
    mutating func abandon() {
        self.isClosed = true
        self.pending = [:]
    }

    /// The next slot to publish.
    mutating func take() -> CompleteSlot? { self.ready.isEmpty ? nil : self.ready.removeFirst() }
}
