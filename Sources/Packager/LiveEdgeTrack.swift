import HLS
import MediaTypes

/// One track at the live edge: its window, the parts of the open segment, and the media that is still in memory.
struct LiveEdgeTrack: Sendable {
    /// A segment whose bytes are in memory.
    private struct Held {
        let mediaSequence: Int64
        let name: String
        var rows: [LiveEdgeRecord.Row]
        /// Names of parts that the previous worker listed for this segment and that other parts have replaced.
        var replaced: [String] = []
        /// Nanoseconds of media time at which its parts are released; set once the playlist no longer names them.
        var leavesAt: Int64?
    }

    /// A configuration that applies from a slot on.
    private struct Change {
        let slot: Int64
        let map: InitializationSegment
        let bytes: [UInt8]
    }

    /// Most segments kept in memory beyond their time because no file has them: 64 are two minutes of a failing disk.
    private static let longestUnstored = 64

    private(set) var track: TrackPublication
    let grid: OutputGrid
    /// Slot boundaries.
    var slots: SegmentBoundaries
    let origin: Int64
    let incarnation: Int64
    /// Slot of the open segment.
    private(set) var slot: Int64 = 0
    /// Slots that are gaps in any case: their packets have a new configuration, but the slots are listed under the old
    /// one.
    private var unnamed: Range<Int64> = 0..<0
    private var finished: [FinishedPart] = []
    private(set) var parts: [Part] = []
    private var changes: [Change] = []
    private var held: [Held] = []
    /// Slots that begin with a discontinuity; the same for all tracks.
    private var discontinuities: Set<Int64> = []
    private(set) var isChanged = false
    /// The open segment has all its parts and waits until the state file has its number.
    private(set) var isWhole = false
    /// The state file has the segments below this number.
    private(set) var recorded: Int64 = 0
    private(set) var dateRanges = DateRangeList()
    /// Part names that the previous worker has listed, by part number.
    private var givenNames: [Int64: String] = [:]
    /// Parts of the open segment as in ``ResumedLiveEdge/replaced``.
    private var replaced: [String] = []
    /// Version of the I-frame playlist that was last taken.
    var shownIFrames: ShownIFrames?

    init(track: TrackPublication, grid: OutputGrid, origin: Int64, incarnation: Int64) {
        self.track = track
        self.grid = grid
        self.slots = SegmentBoundaries(grid: grid)
        self.origin = origin
        self.incarnation = incarnation
        // The directory keeps a segment until no track needs it, but the previous worker's live edge may have listed this
        // track without it, and EXT-X-MEDIA-SEQUENCE must not decrease (rfc8216bis §4.4.3.2).
        self.track.window.removeFirst(self.track.window.removableCount)
    }

    var kind: TrackKind { self.track.kind }
    var playlistName: String { self.track.names.playlist }
    /// Number of segments that are listed, or will be with the next part.
    var segmentCount: Int { self.track.window.segments.count + (self.isWhole ? 1 : 0) }
    /// The first slot of which nothing is listed.
    var untouchedSlot: Int64 { self.parts.isEmpty ? self.slot : self.slot + 1 }

    mutating func begin(at slot: Int64, discontinuity: Bool, continuing: Bool) {
        self.slot = slot
        // The first segment of a room has no discontinuity.
        self.discontinuities = self.discontinuities.filter { $0 > slot || (continuing && $0 == slot) }
        if discontinuity { self.discontinuities.insert(slot) }
        self.applyChanges()
    }

    // MARK: Configurations

    /// - Parameter packets: The slot from which the track's packets have the new configuration; slots before `slot`
    ///   become gaps.
    mutating func change(to map: InitializationSegment, bytes: [UInt8], from slot: Int64, packets: Int64) {
        if packets < slot { self.unnamed = packets..<slot }
        self.changes.append(Change(slot: slot, map: map, bytes: bytes))
        // The next part may have this configuration.
        self.isChanged = self.isChanged || self.isWhole
        self.applyChanges()
    }

    mutating func breakTime(at slot: Int64) { self.discontinuities.insert(slot) }

    private mutating func applyChanges() {
        while let change = self.changes.first, change.slot <= self.slot, self.parts.isEmpty {
            self.track.map = change.map
            self.track.initialization = change.bytes
            self.changes.removeFirst()
            self.isChanged = true
        }
    }

    func isGap(_ slot: Int64) -> Bool { self.unnamed.contains(slot) }

    // MARK: Date ranges

    /// Takes over the ranges that are listed when the run begins.
    mutating func resume(_ ranges: DateRangeList) { self.dateRanges = ranges }

    mutating func list(_ change: DateRange.Change) {
        self.dateRanges.list(
            change, mediaSequence: self.track.window.nextMediaSequence, part: self.parts.count, at: self.endDate)
        self.isChanged = true
    }

    /// Whether the segment that contains a date is complete. Dates are written in milliseconds.
    func isWhole(_ date: Int64) -> Bool {
        guard let last = self.track.window.segments.last else { return false }
        return date < last.programDate &+ last.duration.nanoseconds &- 1_000_000
    }

    mutating func removeRanges(_ ids: [String], memory: Int64) {
        self.dateRanges.remove(ids, at: self.endDate, memory: memory)
        self.isChanged = true
    }

    /// Date of the end of the listed media.
    private var endDate: Int64 {
        let timescale = Int64(self.track.timescale)
        let end =
            self.parts.last.map { $0.start &+ $0.duration.ticks }
            ?? self.track.window.segments.last.map { $0.start &+ $0.duration.ticks } ?? 0
        return self.origin &+ TimeMath.rescale(end, from: timescale, to: TimeMath.nanoseconds)
    }

    // MARK: Media

    mutating func append(_ part: FinishedPart, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        // Players must not wait for a part because of a slow or failing store.
        if self.isWhole, self.grid.slot(ofPart: part.number) > self.slot { self.close(asGap: false, isStored, &update) }
        guard self.grid.slot(ofPart: part.number) == self.slot, !self.isGap(self.slot),
            part.number > self.finished.last?.number ?? -1
        else { return }
        let name = self.nextPartName(self.track.window.nextMediaSequence, index: self.parts.count)
        self.finished.append(part)
        self.parts.append(
            Part(
                uri: name, start: part.start,
                duration: MediaDuration(ticks: part.duration, timescale: self.track.timescale),
                independent: part.independent, byteCount: part.memory.count))
        let memory = self.track.sealed(part.memory, of: self.track.window.nextMediaSequence)
        update.added.append(LiveEdgeUpdate.Object(name: name, kind: self.kind, content: .whole(memory)))
        self.isChanged = true
    }

    /// Completes the open segment.
    ///
    /// - Parameter segment: The whole segment; parts that are not listed yet are added. Without parts it becomes a gap.
    mutating func close(_ segment: FinishedSegment, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        guard segment.slot == self.slot else { return }
        for part in segment.parts { self.append(part, isStored: isStored, &update) }
        let isGap = segment.gap || self.isGap(self.slot) || self.finished.isEmpty
        guard isGap || self.track.window.nextMediaSequence < self.recorded else {
            self.isWhole = true
            self.isChanged = true
            return
        }
        self.close(asGap: isGap, isStored, &update)
    }

    /// The state file now has all segments below a number.
    mutating func noteRecorded(_ mediaSequence: Int64, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        self.recorded = max(self.recorded, mediaSequence)
        guard self.isWhole, self.track.window.nextMediaSequence < self.recorded else { return }
        self.close(asGap: false, isStored, &update)
    }

    /// Lists the slot as a gap: no more media comes for it.
    mutating func giveUp(_ slot: Int64, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        if self.isWhole { self.close(asGap: false, isStored, &update) }
        while self.slot <= slot { self.close(asGap: true, isStored, &update) }
    }

    /// Ends the track.
    mutating func end(isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        if !self.parts.isEmpty { self.close(asGap: false, isStored, &update) }
        self.track.window.end()
        self.isChanged = true
    }

    private mutating func close(asGap: Bool, _ isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        self.isWhole = false
        let number = self.track.window.nextMediaSequence
        let isGap = asGap || self.finished.isEmpty
        var segment = self.track.segment(
            nil, frames: self.slots.frames(ofSlot: self.slot), mediaSequence: number, incarnation: self.incarnation,
            origin: self.origin,
            discontinuity: self.discontinuities.remove(self.slot) != nil, grid: self.grid)
        if !isGap, let first = self.finished.first, let last = self.finished.last {
            segment = self.track.segment(
                start: first.start, end: last.end, parts: self.parts, like: segment, origin: self.origin,
                keyFrames: KeyFrame.all(in: self.finished))
            // An encrypted segment is encrypted as one run; it is not the concatenation of its parts.
            let content =
                self.track.keys.map { keys in
                    LiveEdgeUpdate.Content.whole(
                        keys.sealed(self.finished.map(\.memory), of: number, track: self.track.names.track))
                } ?? .parts(self.parts.map(\.uri))
            update.added.append(LiveEdgeUpdate.Object(name: segment.uri, kind: self.kind, content: content))
        } else if !self.parts.isEmpty {
            segment = segment.with(parts: self.parts)
        }
        // It fits by construction. If it does not, a gap with the slot's length is listed.
        do { try self.track.window.append(segment) } catch {
            try? self.track.window.append(
                self.track.segment(
                    nil, frames: self.slots.frames(ofSlot: self.slot), mediaSequence: number,
                    incarnation: self.incarnation, origin: self.origin,
                    discontinuity: segment.discontinuity, grid: self.grid))
        }
        if !self.parts.isEmpty || !self.replaced.isEmpty {
            self.held.append(
                Held(
                    mediaSequence: number, name: segment.uri,
                    rows: Self.rows(self.parts, of: number, segment.discontinuity), replaced: self.replaced))
            self.replaced = []
        }
        self.finished.removeAll(keepingCapacity: true)
        self.parts.removeAll(keepingCapacity: true)
        self.slot += 1
        self.isChanged = true
        self.track.window.removeFirst(self.track.window.removableCount)
        self.applyChanges()
        self.retire(isStored, &update)
    }

    // MARK: For the next worker

    /// Sets the names of coming parts that viewers already know.
    ///
    /// - Parameter slot: Slot of the next segment.
    mutating func give(names: [Int64: String], from slot: Int64) {
        self.givenNames = names
        // The hint is listed before the first part arrives.
        self.slot = slot
    }

    /// Keeps a replaced part available as long as its segment's other parts: viewers may have read its URI from the
    /// previous worker.
    mutating func keep(
        replaced part: FinishedPart, name: String, of mediaSequence: Int64, _ update: inout LiveEdgeUpdate
    ) {
        let memory = self.track.sealed(part.memory, of: mediaSequence)
        update.added.append(LiveEdgeUpdate.Object(name: name, kind: self.kind, content: .whole(memory)))
        self.replaced.append(name)
    }

    /// The name of a part of the open segment, or of the first one after it.
    private func nextPartName(_ mediaSequence: Int64, index: Int) -> String {
        let ahead = mediaSequence - self.track.window.nextMediaSequence
        let number = (self.slot + ahead) * Int64(self.grid.partsPerSegment) + Int64(index)
        return self.givenNames[number]
            ?? self.track.names.part(mediaSequence, index: index, incarnation: self.incarnation)
    }

    /// The parts that viewers may request, and the hinted one.
    var record: LiveEdgeRecord.Track {
        // Built with a single allocation, because it runs with every part on the encoder's thread.
        var rows: [LiveEdgeRecord.Row] = []
        rows.reserveCapacity(self.held.reduce(self.parts.count) { $0 + $1.rows.count })
        for segment in self.held { rows.append(contentsOf: segment.rows) }
        Self.add(
            self.parts, of: self.track.window.nextMediaSequence, self.discontinuities.contains(self.slot), to: &rows)
        return LiveEdgeRecord.Track(
            name: self.track.names.track, map: self.track.map.uri, whole: self.whole, rows: rows, hint: self.nextHint)
    }

    /// The segments that are not in the state file and that are listed as complete, or will be with the next part.
    private var whole: [LiveEdgeRecord.Whole] {
        let window = self.track.window
        let count = Int(
            clamping: max(0, min(window.nextMediaSequence - self.recorded, Int64(LiveEdgeRecord.mostWhole - 1))))
        var whole = window.segments.suffix(count).map { segment in
            LiveEdgeRecord.Whole(
                mediaSequence: segment.mediaSequence, incarnation: self.incarnation(of: segment.mediaSequence),
                start: segment.start, duration: segment.duration.ticks, discontinuity: segment.discontinuity,
                gap: segment.gap, map: segment.map.uri)
        }
        if self.isWhole, let first = self.finished.first, let last = self.finished.last {
            let number = window.nextMediaSequence
            whole.append(
                LiveEdgeRecord.Whole(
                    mediaSequence: number, incarnation: self.incarnation(of: number), start: first.start,
                    duration: last.end - first.start, discontinuity: self.discontinuities.contains(self.slot),
                    gap: false, map: self.track.map.uri))
        }
        return whole
    }

    private func incarnation(of mediaSequence: Int64) -> Int64 {
        self.track.given[mediaSequence] ?? self.incarnation
    }

    /// How far viewers have seen the track.
    var reach: LiveEdgeMark.Track {
        LiveEdgeMark.Track(
            name: self.track.names.track, whole: self.track.window.nextMediaSequence, parts: self.parts.count)
    }

    private static func rows(_ parts: [Part], of number: Int64, _ discontinuity: Bool) -> [LiveEdgeRecord.Row] {
        var rows: [LiveEdgeRecord.Row] = []
        rows.reserveCapacity(parts.count)
        self.add(parts, of: number, discontinuity, to: &rows)
        return rows
    }

    private static func add(
        _ parts: [Part], of number: Int64, _ discontinuity: Bool, to rows: inout [LiveEdgeRecord.Row]
    ) {
        for (index, part) in parts.enumerated() {
            rows.append(
                LiveEdgeRecord.Row(
                    mediaSequence: number, index: index, name: part.uri, start: part.start,
                    duration: part.duration.ticks, byteCount: part.byteCount, independent: part.independent,
                    discontinuity: discontinuity))
        }
    }

    /// Lists the parts of complete segments as the previous worker did.
    mutating func resume(_ kept: ResumedSegment, _ update: inout LiveEdgeUpdate) {
        self.track.window.list(
            kept.rows.map { row in
                Part(
                    uri: row.name, start: row.start,
                    duration: MediaDuration(ticks: row.duration, timescale: self.track.timescale),
                    independent: row.independent, byteCount: row.byteCount)
            }, of: kept.mediaSequence)
        for (row, memory) in zip(kept.rows, kept.memories) {
            let memory = self.track.sealed(memory, of: kept.mediaSequence)
            update.added.append(LiveEdgeUpdate.Object(name: row.name, kind: self.kind, content: .whole(memory)))
        }
        self.held.append(Held(mediaSequence: kept.mediaSequence, name: kept.name, rows: kept.rows))
        self.isChanged = true
    }

    /// Name of the next part.
    private var nextHint: String {
        let number = self.track.window.nextMediaSequence
        return self.isWhole
            ? self.nextPartName(number + 1, index: 0) : self.nextPartName(number, index: self.parts.count)
    }

    // MARK: Memory

    mutating func limit(to most: Int?, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        self.track.window.limit(to: most)
        let count = self.track.window.removableCount
        guard count > 0, self.track.window.removeFirst(count) else { return }
        self.isChanged = true
        self.retire(isStored, &update)
    }

    /// Releases memory: parts after three target durations in which the playlist did not name them (§6.2.2), segments
    /// once a file has them.
    private mutating func retire(_ isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        guard let last = self.track.window.segments.last else { return }
        let timescale = Int64(last.duration.timescale)
        let now = TimeMath.rescale(last.start &+ last.duration.ticks, from: timescale, to: TimeMath.nanoseconds)
        let stay = 3 * Int64(self.grid.targetDuration) &* TimeMath.nanoseconds
        let named = self.track.window.segments.first { !$0.parts.isEmpty }?.mediaSequence ?? .max
        for index in self.held.indices where self.held[index].mediaSequence < named && self.held[index].leavesAt == nil
        {
            self.held[index].leavesAt = now &+ stay
        }
        // A configuration that comes back uses its initialization segment again, which must stay.
        let expired = Set(self.track.window.takeExpired(at: now, current: self.track.map))
            .subtracting(self.changes.map(\.map.uri))
        var kept: [Held] = []
        for (index, segment) in self.held.enumerated() {
            var segment = segment
            if let time = segment.leavesAt, time <= now {
                update.removed += segment.rows.map(\.name) + segment.replaced
                segment.rows = []
                segment.replaced = []
                let isTooMany = self.held.count - index > Self.longestUnstored
                if isTooMany || expired.contains(segment.name) || isStored(segment.name) {
                    update.removed.append(segment.name)
                    continue
                }
            }
            kept.append(segment)
        }
        self.held = kept
        update.removed += expired.filter { name in !kept.contains { $0.name == name } }
    }

    // MARK: The playlist

    /// Returns the current playlist and marks it as taken.
    mutating func takePlaylist(_ control: ServerControl) -> MediaPlaylist {
        self.isChanged = false
        let window = self.track.window
        var open: LiveEdge.OpenSegment?
        let key = self.track.key(of: window.nextMediaSequence)
        if let first = self.parts.first {
            open = LiveEdge.OpenSegment(
                programDate: self.origin
                    &+ TimeMath.rescale(first.start, from: Int64(self.track.timescale), to: TimeMath.nanoseconds),
                map: self.track.map, discontinuity: self.discontinuities.contains(self.slot), key: key,
                parts: self.parts)
        } else if !self.isWhole, !window.isEnded, let last = window.segments.last,
            self.discontinuities.contains(self.slot) || last.map != self.track.map || last.key != key
        {
            // hls.js (1.6.15) keeps the map, the key and the discontinuity with which it first learned of a segment,
            // and it learns of it through the hint of the first part.
            open = LiveEdge.OpenSegment(
                programDate: self.endDate, map: self.track.map,
                discontinuity: self.discontinuities.contains(self.slot), key: key, parts: [])
        }
        let hint = window.isEnded ? nil : self.nextHint
        let next = self.isWhole ? self.changes.last { $0.slot <= self.slot + 1 }?.map : nil
        return MediaPlaylist(
            window, edge: LiveEdge(control: control, open: open, hint: hint, hintMap: next ?? self.track.map),
            dateRanges: self.dateRanges)
    }
}
