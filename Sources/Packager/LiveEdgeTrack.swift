import HLS
import MediaTypes

/// The live-edge playlist of one track: its listed segments, the parts of the segment in progress, and the names of the
/// media that is still in memory.
struct LiveEdgeTrack: Sendable {
    /// A segment whose bytes are in memory.
    private struct BufferedSegment {
        let mediaSequence: Int64
        let name: String
        var rows: [LiveEdgeRecord.Row]
        /// Names of parts that the previous worker listed for this segment and that other parts have replaced.
        var replaced: [String] = []
        /// Media time in nanoseconds at which the segment's parts are released; `nil` while the playlist still lists
        /// them.
        var leavesAt: Int64?
    }

    /// A codec configuration that applies from a segment on.
    private struct Change {
        let segmentIndex: Int64
        let map: InitializationSegment
        let bytes: [UInt8]
    }

    /// Maximum number of segments kept in memory because no file has them: 64 segments of two seconds are two minutes
    /// of a failing disk.
    private static let longestUnstored = 64

    /// The track's listed segments and initialization segment.
    private(set) var track: TrackPublication
    let grid: OutputGrid
    /// The segment boundaries, which forced cuts change.
    var boundaries: SegmentBoundaries
    let origin: Int64
    let incarnation: Int64
    /// Index of the segment in progress.
    private(set) var segmentIndex: Int64 = 0
    /// Indices of segments that must be listed as gaps: their packets have a new configuration, but the segments are
    /// listed with the old one.
    private var unnamed: Range<Int64> = 0..<0
    /// Media of the parts of the segment in progress.
    private var finished: [FinishedPart] = []
    /// Parts of the segment in progress, as the playlist lists them.
    private(set) var parts: [Part] = []
    /// Configuration changes that have not taken effect yet, oldest first.
    private var changes: [Change] = []
    /// Complete segments whose bytes are still in memory, oldest first.
    private var buffered: [BufferedSegment] = []
    /// Indices of segments that begin with a discontinuity; the same for all tracks.
    private var discontinuities: Set<Int64> = []
    /// Whether the playlist has changed since it was last taken.
    private(set) var isChanged = false
    /// Whether the segment in progress has all its parts and waits until the state file has its number.
    private(set) var isWhole = false
    /// The state file has the segments below this media sequence number.
    private(set) var recorded: Int64 = 0
    private(set) var dateRanges = DateRangeList()
    /// URIs of parts that the previous worker has listed, by part number; this worker uses them again.
    private var givenNames: [Int64: String] = [:]
    /// URIs of parts of the segment in progress that the previous worker listed and this worker replaces; see
    /// ``ResumedLiveEdge/replaced``.
    private var replaced: [String] = []
    /// Whether the track sleeps, so that it has no playlist.
    private(set) var isAsleep = false
    /// Whether the track has woken and nothing is listed yet, so that it has no playlist.
    private(set) var isWaking = false
    /// Version of the I-frame playlist that was last taken.
    var shownIFrames: ShownIFrames?
    /// The subtitle renditions whose segments follow those of this track; `nil` if there are none.
    var subtitles: Subtitles?

    init(track: TrackPublication, grid: OutputGrid, origin: Int64, incarnation: Int64) {
        self.track = track
        self.grid = grid
        self.boundaries = SegmentBoundaries(grid: grid)
        self.origin = origin
        self.incarnation = incarnation
        // The directory keeps a segment until no track needs it, but the previous worker's live edge may have listed
        // this track without it, and EXT-X-MEDIA-SEQUENCE must not decrease (rfc8216bis §4.4.3.2).
        self.track.window.handsOver = false
        self.track.window.removeFirst(self.track.window.removableCount)
    }

    var kind: TrackKind { self.track.kind }
    var playlistName: String { self.track.names.playlist }
    /// Number of segments that are listed as complete, or will be with the next part.
    var segmentCount: Int { self.track.window.segments.count + (self.isWhole ? 1 : 0) }
    /// Index of the first segment of which nothing is listed.
    var untouchedSegment: Int64 { self.parts.isEmpty ? self.segmentIndex : self.segmentIndex + 1 }

    /// Fixes the first segment of the run.
    mutating func begin(at segmentIndex: Int64, discontinuity: Bool, continuing: Bool) {
        self.segmentIndex = segmentIndex
        // The first segment of a room has no discontinuity.
        self.discontinuities = self.discontinuities.filter { $0 > segmentIndex || (continuing && $0 == segmentIndex) }
        if discontinuity { self.discontinuities.insert(segmentIndex) }
        self.applyChanges()
    }

    // MARK: Sleep

    /// Whether the track has no playlist, because it sleeps or has just woken.
    var isUnlisted: Bool { self.isAsleep || self.isWaking }

    /// Ends the playlist and releases its media, because the track has no media until ``wake(at:mediaSequence:_:)``.
    mutating func sleep(_ update: inout LiveEdgeUpdate) {
        guard !self.isAsleep else { return }
        self.isAsleep = true
        self.isWaking = false
        self.track.window.sleep()
        for segment in self.buffered { update.removed += segment.rows.map(\.name) + segment.replaced + [segment.name] }
        update.removed += self.parts.map(\.uri) + self.replaced
        update.removed += self.subtitleNames(like: self.buffered.map(\.name))
        update.asleep.append(self.playlistName)
        self.buffered = []
        self.replaced = []
        self.finished = []
        self.parts = []
        self.isWhole = false
        self.isChanged = false
    }

    /// Begins a new list.
    ///
    /// - Parameters:
    ///   - segmentIndex: Index of the first segment.
    ///   - mediaSequence: The number that the segment has in the other playlists.
    ///   - dateRanges: The date ranges that the other playlists list.
    mutating func wake(at segmentIndex: Int64, mediaSequence: Int64, _ dateRanges: DateRangeList) {
        guard self.isAsleep else { return }
        let passed = self.discontinuities.filter { $0 < segmentIndex }
        self.track.window.skip(to: mediaSequence, discontinuities: passed.count)
        self.discontinuities.subtract(passed)
        self.segmentIndex = segmentIndex
        self.dateRanges = dateRanges
        self.givenNames = [:]
        self.isAsleep = false
        self.isWaking = true
        self.applyChanges()
    }

    // MARK: Configurations

    /// Changes the codec configuration from segment `segmentIndex` on.
    ///
    /// - Parameter packets: Index of the first segment whose packets have the new configuration; segments from there up
    ///   to `segmentIndex` become gaps.
    mutating func change(to map: InitializationSegment, bytes: [UInt8], from segmentIndex: Int64, packets: Int64) {
        if packets < segmentIndex { self.unnamed = packets..<segmentIndex }
        self.changes.append(Change(segmentIndex: segmentIndex, map: map, bytes: bytes))
        // The next part may have this configuration.
        self.isChanged = self.isChanged || self.isWhole
        self.applyChanges()
    }

    /// Adds a discontinuity before a segment.
    mutating func breakTime(at segmentIndex: Int64) { self.discontinuities.insert(segmentIndex) }

    private mutating func applyChanges() {
        while let change = self.changes.first, change.segmentIndex <= self.segmentIndex, self.parts.isEmpty {
            self.track.map = change.map
            self.track.initialization = change.bytes
            self.changes.removeFirst()
            self.isChanged = true
        }
    }

    /// Whether a segment must be listed as a gap, because its packets have a configuration that is not listed yet.
    func isGap(_ segmentIndex: Int64) -> Bool { self.unnamed.contains(segmentIndex) }

    // MARK: Date ranges

    /// Takes over the date ranges that are listed when the run begins.
    mutating func resume(_ ranges: DateRangeList) { self.dateRanges = ranges }

    /// Lists a date range change with the next version of the playlist.
    mutating func list(_ change: DateRange.Change) {
        self.dateRanges.list(
            change, mediaSequence: self.track.window.nextMediaSequence, part: self.parts.count, at: self.endDate)
        self.isChanged = true
    }

    /// Whether the segment that contains a date is listed as complete, with a margin of one millisecond, the precision
    /// of dates in playlists.
    func isWhole(_ date: Int64) -> Bool {
        guard let last = self.track.window.segments.last else { return false }
        return date < last.programDate &+ last.duration.nanoseconds &- 1_000_000
    }

    mutating func removeRanges(_ ids: [String], memory: Int64) {
        self.dateRanges.remove(ids, at: self.endDate, memory: memory)
        self.isChanged = true
    }

    /// Date at which the listed media ends, in nanoseconds since the Unix epoch.
    private var endDate: Int64 {
        let timescale = Int64(self.track.timescale)
        let end =
            self.parts.last.map { $0.start &+ $0.duration.ticks }
            ?? self.track.window.segments.last.map { $0.start &+ $0.duration.ticks } ?? 0
        return self.origin &+ TimeMath.rescale(end, from: timescale, to: TimeMath.nanoseconds)
    }

    // MARK: Media

    /// Lists a part of the segment in progress. If it is a part of a later segment and the one in progress has all its
    /// parts, then that segment is listed as complete first.
    mutating func append(_ part: FinishedPart, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        // A slow or failing store must not delay parts, so the previous segment is completed even if the state file
        // does not have it.
        if self.isWhole, self.grid.segmentIndex(ofPart: part.number) > self.segmentIndex {
            self.close(asGap: false, isStored, &update)
        }
        guard !self.isAsleep, self.grid.segmentIndex(ofPart: part.number) == self.segmentIndex,
            !self.isGap(self.segmentIndex),
            part.number > self.finished.last?.number ?? -1
        else { return }
        let name = self.nextPartName(self.track.window.nextMediaSequence, index: self.parts.count)
        self.isWaking = false
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

    /// Completes the segment in progress.
    ///
    /// - Parameter segment: The whole segment; its parts that are not listed yet are added. A segment without parts
    ///   becomes a gap.
    mutating func close(_ segment: FinishedSegment, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        guard segment.segmentIndex == self.segmentIndex, !self.isAsleep else { return }
        for part in segment.parts { self.append(part, isStored: isStored, &update) }
        let isGap = segment.gap || self.isGap(self.segmentIndex) || self.finished.isEmpty
        guard isGap || self.track.window.nextMediaSequence < self.recorded else {
            self.isWhole = true
            self.isChanged = true
            return
        }
        self.close(asGap: isGap, isStored, &update)
    }

    /// Notes that the state file now has all segments below a media sequence number, and lists a waiting segment as
    /// complete.
    mutating func noteRecorded(_ mediaSequence: Int64, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        self.recorded = max(self.recorded, mediaSequence)
        guard self.isWhole, self.track.window.nextMediaSequence < self.recorded else { return }
        self.close(asGap: false, isStored, &update)
    }

    /// Lists the segments up to and including a segment index as gaps, because their media is too late or does not exist.
    mutating func giveUp(_ segmentIndex: Int64, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        guard !self.isAsleep else { return }
        if self.isWhole { self.close(asGap: false, isStored, &update) }
        while self.segmentIndex <= segmentIndex { self.close(asGap: true, isStored, &update) }
    }

    /// Ends the track's playlist.
    mutating func end(isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        if !self.parts.isEmpty { self.close(asGap: false, isStored, &update) }
        self.track.window.end()
        self.isChanged = true
    }

    private mutating func close(asGap: Bool, _ isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        self.isWhole = false
        self.isWaking = false
        let number = self.track.window.nextMediaSequence
        let isGap = asGap || self.finished.isEmpty
        var segment = self.track.segment(
            nil, frames: self.boundaries.frames(ofSegment: self.segmentIndex), mediaSequence: number,
            incarnation: self.incarnation,
            origin: self.origin,
            discontinuity: self.discontinuities.remove(self.segmentIndex) != nil, grid: self.grid)
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
        // The segment follows the last one by construction. If it does not, a gap of the regular length is listed.
        do { try self.track.window.append(segment) } catch {
            try? self.track.window.append(
                self.track.segment(
                    nil, frames: self.boundaries.frames(ofSegment: self.segmentIndex), mediaSequence: number,
                    incarnation: self.incarnation, origin: self.origin,
                    discontinuity: segment.discontinuity, grid: self.grid))
        }
        if !self.parts.isEmpty || !self.replaced.isEmpty {
            self.buffered.append(
                BufferedSegment(
                    mediaSequence: number, name: segment.uri,
                    rows: Self.rows(self.parts, of: number, segment.discontinuity), replaced: self.replaced))
            self.replaced = []
        }
        if let listed = self.track.window.segments.last, !listed.gap { self.addSubtitles(like: listed, &update) }
        self.finished.removeAll(keepingCapacity: true)
        self.parts.removeAll(keepingCapacity: true)
        self.segmentIndex += 1
        self.isChanged = true
        self.track.window.removeFirst(self.track.window.removableCount)
        self.applyChanges()
        self.retire(isStored, &update)
    }

    // MARK: For the next worker

    /// Sets the URIs that coming parts must use because viewers already know them.
    ///
    /// - Parameter segmentIndex: Index of the next segment.
    mutating func give(names: [Int64: String], from segmentIndex: Int64) {
        self.givenNames = names
        // The preload hint depends on the index and is listed before the first part arrives.
        self.segmentIndex = segmentIndex
    }

    /// Keeps a replaced part available as long as the other parts of its segment: viewers may have read its URI in a
    /// playlist of the previous worker.
    mutating func keep(
        replaced part: FinishedPart, name: String, of mediaSequence: Int64, _ update: inout LiveEdgeUpdate
    ) {
        let memory = self.track.sealed(part.memory, of: mediaSequence)
        update.added.append(LiveEdgeUpdate.Object(name: name, kind: self.kind, content: .whole(memory)))
        self.replaced.append(name)
    }

    /// Returns the URI of the next part, of the segment in progress or of the one after it.
    private func nextPartName(_ mediaSequence: Int64, index: Int) -> String {
        let ahead = mediaSequence - self.track.window.nextMediaSequence
        let number = (self.segmentIndex + ahead) * Int64(self.grid.partsPerSegment) + Int64(index)
        return self.givenNames[number]
            ?? self.track.names.part(mediaSequence, index: index, incarnation: self.incarnation)
    }

    /// The track's part of the record for the next worker: the parts that viewers may request, and the preload hint.
    var record: LiveEdgeRecord.Track {
        // The array is allocated once, because this runs with every part on the encoder's thread.
        var rows: [LiveEdgeRecord.Row] = []
        rows.reserveCapacity(self.buffered.reduce(self.parts.count) { $0 + $1.rows.count })
        for segment in self.buffered { rows.append(contentsOf: segment.rows) }
        Self.add(
            self.parts, of: self.track.window.nextMediaSequence, self.discontinuities.contains(self.segmentIndex),
            to: &rows)
        return LiveEdgeRecord.Track(
            name: self.track.names.track, map: self.track.map.uri, whole: self.whole, rows: rows, hint: self.nextHint)
    }

    /// The segments that the state file does not have and that are listed as complete, or will be with the next part.
    private var whole: [LiveEdgeRecord.CompleteSegment] {
        let window = self.track.window
        let count = Int(
            clamping: max(0, min(window.nextMediaSequence - self.recorded, Int64(LiveEdgeRecord.mostWhole - 1))))
        var whole = window.segments.suffix(count).map { segment in
            LiveEdgeRecord.CompleteSegment(
                mediaSequence: segment.mediaSequence, incarnation: self.incarnation(of: segment.mediaSequence),
                start: segment.start, duration: segment.duration.ticks, discontinuity: segment.discontinuity,
                gap: segment.gap, map: segment.map.uri)
        }
        if self.isWhole, let first = self.finished.first, let last = self.finished.last {
            let number = window.nextMediaSequence
            whole.append(
                LiveEdgeRecord.CompleteSegment(
                    mediaSequence: number, incarnation: self.incarnation(of: number), start: first.start,
                    duration: last.end - first.start, discontinuity: self.discontinuities.contains(self.segmentIndex),
                    gap: false, map: self.track.map.uri))
        }
        return whole
    }

    /// The incarnation (run number of a worker) in the file name of a segment.
    private func incarnation(of mediaSequence: Int64) -> Int64 {
        self.track.given[mediaSequence] ?? self.incarnation
    }

    /// The last segment and part that the playlist has listed.
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
        self.buffered.append(BufferedSegment(mediaSequence: kept.mediaSequence, name: kept.name, rows: kept.rows))
        self.isChanged = true
    }

    /// URI of the next part, for the preload hint.
    private var nextHint: String {
        let number = self.track.window.nextMediaSequence
        return self.isWhole
            ? self.nextPartName(number + 1, index: 0) : self.nextPartName(number, index: self.parts.count)
    }

    // MARK: Memory

    /// Limits the number of listed segments; `nil` removes the limit.
    mutating func limit(to most: Int?, isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        self.track.window.limit(to: most)
        let count = self.track.window.removableCount
        guard count > 0, self.track.window.removeFirst(count) else { return }
        self.isChanged = true
        self.retire(isStored, &update)
    }

    /// Releases media in memory: parts three target durations after the playlist stopped listing them (rfc8216bis
    /// §6.2.2), and with them their segment if a file has it, if it has expired, or if too many segments are held.
    private mutating func retire(_ isStored: (String) -> Bool, _ update: inout LiveEdgeUpdate) {
        guard let last = self.track.window.segments.last else { return }
        let timescale = Int64(last.duration.timescale)
        let now = TimeMath.rescale(last.start &+ last.duration.ticks, from: timescale, to: TimeMath.nanoseconds)
        let stay = 3 * Int64(self.grid.targetDuration) &* TimeMath.nanoseconds
        let named = self.track.window.segments.first { !$0.parts.isEmpty }?.mediaSequence ?? .max
        for index in self.buffered.indices
        where self.buffered[index].mediaSequence < named && self.buffered[index].leavesAt == nil {
            self.buffered[index].leavesAt = now &+ stay
        }
        // A configuration that is used again uses the same initialization segment, which must stay.
        let expired = Set(self.track.window.takeExpired(at: now, current: self.track.map))
            .subtracting(self.changes.map(\.map.uri))
        var kept: [BufferedSegment] = []
        for (index, segment) in self.buffered.enumerated() {
            var segment = segment
            if let time = segment.leavesAt, time <= now {
                update.removed += segment.rows.map(\.name) + segment.replaced
                segment.rows = []
                segment.replaced = []
                let isTooMany = self.buffered.count - index > Self.longestUnstored
                if isTooMany || expired.contains(segment.name) || isStored(segment.name) {
                    update.removed += [segment.name] + self.subtitleNames(like: [segment.name])
                    continue
                }
            }
            kept.append(segment)
        }
        self.buffered = kept
        let gone = expired.filter { name in !kept.contains { $0.name == name } }
        update.removed += gone
        update.removed += self.subtitleNames(like: Array(gone))
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
                map: self.track.map, discontinuity: self.discontinuities.contains(self.segmentIndex), key: key,
                parts: self.parts)
        } else if !self.isWhole, !window.isEnded, let last = window.segments.last,
            self.discontinuities.contains(self.segmentIndex) || last.map != self.track.map || last.key != key
        {
            // hls.js (1.6.15) keeps the map, the key and the discontinuity with which it first learned of a segment,
            // and it learns of it through the hint of the first part.
            open = LiveEdge.OpenSegment(
                programDate: self.endDate, map: self.track.map,
                discontinuity: self.discontinuities.contains(self.segmentIndex), key: key, parts: [])
        }
        let hint = window.isEnded ? nil : self.nextHint
        let next = self.isWhole ? self.changes.last { $0.segmentIndex <= self.segmentIndex + 1 }?.map : nil
        return MediaPlaylist(
            window, edge: LiveEdge(control: control, open: open, hint: hint, hintMap: next ?? self.track.map),
            dateRanges: self.dateRanges)
    }
}
