import HLS
import MediaTypes

/// The segments of a long window that the live playlists no longer list: those that only the playlists of the whole
/// window list, and those whose files are still kept.
///
/// Invariants:
/// (1) The rows of a track have consecutive numbers and end right before its live playlist.
/// (2) Rows from ``head`` on are listed; rows from ``kept`` up to ``head`` are not, but their files are kept. Neither
///     number decreases.
/// (3) Every row is in the store's journal or in ``pending``, which the state file stores.
struct SegmentArchive: Sendable {
    struct Track: Sendable {
        let names: TrackNames
        let kind: TrackKind
        let timescale: Int32
        fileprivate(set) var rows = SegmentRows()
        /// Initialization segments of the rows, and how many rows use each.
        fileprivate var maps: [InitializationSegment] = []
        fileprivate var uses: [Int] = []
        /// Duration in nanoseconds of the listed rows.
        fileprivate var duration: Int64 = 0
    }

    /// Configured length of the whole window in nanoseconds.
    let window: Int64
    /// Nanoseconds for which the file of an unlisted segment is kept longer than the specification requires.
    let slack: Int64
    /// Target duration of the playlists of the whole window in nanoseconds.
    let target: Int64
    private(set) var tracks: [Track]
    private(set) var head: Int64
    private(set) var kept: Int64
    /// Duration in nanoseconds of the longest playlist of the whole window so far.
    private(set) var longest: Int64
    /// Unlisted files outside the rows, by name: for example, of tracks that the room no longer has.
    private(set) var others: [String: RetiredSegment] = [:]
    /// Media time at which the first of ``others`` expires.
    private var nextOther = Int64.max
    /// The date ranges of the whole window.
    var ranges = DateRangeList()
    /// Rows that the journal does not have, oldest first.
    private(set) var pending: [ArchiveRow] = []
    /// Names of the files of segments that were taken over since the last ``takeNames()``.
    private var names: [String] = []
    /// Name of the journal in the store; `nil` before the first.
    var journal: String?
    /// While disk space is short: maximum number of segments in the playlists of the whole window, which still list at
    /// least three target durations. `nil`: no limit.
    private(set) var mostSegments: Int?
    /// Media times from which the files of rows below a number may be deleted, while disk space is short.
    private var hurried: [(below: Int64, at: Int64)] = []

    init(
        tracks: [(name: String, kind: TrackKind)], grid: OutputGrid, windowSeconds: Int, slackSeconds: Int, head: Int64,
        kept: Int64, longest: Int64
    ) {
        self.tracks = tracks.map {
            Track(names: TrackNames(track: $0.name), kind: $0.kind, timescale: grid.timescale(of: $0.kind))
        }
        self.target = Int64(max(grid.targetDuration, HLSOutputSettings.archivePace)) &* TimeMath.nanoseconds
        self.window = Int64(windowSeconds) &* TimeMath.nanoseconds
        self.slack = Int64(max(grid.targetDuration, slackSeconds)) &* TimeMath.nanoseconds
        (self.head, self.kept, self.longest) = (head, kept, longest)
    }

    // MARK: Segments

    /// Number of rows of all tracks and of ``others``.
    var rowCount: Int { self.tracks.reduce(self.others.count) { $0 + $1.rows.count } }

    /// Takes over a segment that a track's live playlist no longer lists.
    mutating func append(_ segment: Segment, incarnation: Int64, track index: Int) {
        let entry = StateFile.Entry(segment, incarnation: incarnation, map: 0)
        self.add(entry, segment.map, track: index)
        self.pending.append(.segment(track: self.tracks[index].names.track, map: segment.map.uri, entry))
        self.names.append(segment.uri)
    }

    /// Returns the names of the files of segments that were taken over since the last call.
    mutating func takeNames() -> [String] {
        defer { self.names = [] }
        return self.names
    }

    /// Adds a row after the others of a track. If its number does not follow theirs, those are no longer listed.
    mutating func add(_ entry: StateFile.Entry, _ map: InitializationSegment, track index: Int) {
        if let last = self.tracks[index].rows.last, last.mediaSequence + 1 != entry.mediaSequence {
            while let row = self.tracks[index].rows.first { self.retire(row, track: index) }
            self.head = max(self.head, entry.mediaSequence)
        }
        var entry = entry
        entry.map = self.use(map, track: index)
        self.tracks[index].rows.append(entry)
        if entry.mediaSequence >= self.head { self.tracks[index].duration &+= self.nanoseconds(entry, index) }
    }

    /// Counts one more row that uses an initialization segment, and returns the index of that initialization segment.
    private mutating func use(_ map: InitializationSegment, track index: Int) -> Int {
        if let known = self.tracks[index].maps.lastIndex(of: map) {
            self.tracks[index].uses[known] += 1
            return known
        }
        if let free = self.tracks[index].uses.firstIndex(of: 0) {
            self.tracks[index].maps[free] = map
            self.tracks[index].uses[free] = 1
            return free
        }
        self.tracks[index].maps.append(map)
        self.tracks[index].uses.append(1)
        return self.tracks[index].maps.count - 1
    }

    /// Moves the oldest row of a track to ``others``.
    private mutating func retire(_ row: StateFile.Entry, track index: Int) {
        let track = self.tracks[index]
        self.keep(
            RetiredSegment(
                uri: track.names.segment(row.mediaSequence, incarnation: row.incarnation), map: track.maps[row.map],
                deleteAt: self.deleteTime(row, index), gap: row.gap, byteCount: row.byteCount))
        self.removeFirst(track: index)
    }

    private mutating func removeFirst(track index: Int) {
        guard let row = self.tracks[index].rows.removeFirst() else { return }
        self.tracks[index].uses[row.map] -= 1
        if row.mediaSequence >= self.head { self.tracks[index].duration &-= self.nanoseconds(row, index) }
    }

    /// Keeps the file of a segment that no playlist lists until its deletion time.
    mutating func keep(_ segment: RetiredSegment) {
        self.others[segment.uri] = segment
        self.nextOther = min(self.nextOther, segment.deleteAt)
    }

    private func nanoseconds(_ row: StateFile.Entry, _ index: Int) -> Int64 {
        MediaDuration(ticks: row.duration, timescale: self.tracks[index].timescale).nanoseconds
    }

    /// Media time at which the file of an unlisted row may be deleted; see invariant (5) of ``PlaylistWindow``.
    func deleteTime(_ row: StateFile.Entry, _ index: Int) -> Int64 {
        TimeMath.rescale(
            row.start &+ row.duration, from: Int64(self.tracks[index].timescale), to: TimeMath.nanoseconds)
            &+ self.nanoseconds(row, index) &+ self.longest &+ self.slack
    }

    // MARK: The whole window

    /// Stops listing the oldest rows, as many as the window of every track allows. Three target durations stay listed
    /// (rfc8216bis §6.2.2).
    ///
    /// - Parameters:
    ///   - live: The tracks' live playlists.
    ///   - mediaTime: Media time of the end of the playlists in nanoseconds.
    mutating func trim(_ live: [PlaylistWindow], at mediaTime: Int64) {
        let before = self.head
        for (track, window) in zip(self.tracks, live) {
            self.longest = max(self.longest, track.duration &+ window.duration)
        }
        while true {
            let rows = self.tracks.indices.compactMap { index in
                self.tracks[index].rows.index(of: self.head).map { (track: index, place: $0) }
            }
            guard !rows.isEmpty else {
                // A newer track starts later.
                let firsts = self.tracks.compactMap { $0.rows.first?.mediaSequence }.filter { $0 > self.head }
                guard let next = firsts.min() ?? live.map(\.mediaSequence).min(), next > self.head else { break }
                self.head = next
                continue
            }
            let isPassed = rows.allSatisfy { index, place in
                let (track, window) = (self.tracks[index], live[index])
                let count = track.rows.count - place + window.segments.count
                let isTooMany = self.mostSegments.map { count > $0 } ?? false
                let rest = track.duration &+ window.duration &- self.nanoseconds(track.rows[place], index)
                return rest >= (isTooMany ? min(self.window, 3 * self.target) : self.window)
            }
            guard isPassed else { break }
            for (index, place) in rows {
                self.tracks[index].duration &-= self.nanoseconds(self.tracks[index].rows[place], index)
            }
            self.head += 1
        }
        if self.mostSegments != nil, self.head > before { self.hurry(at: mediaTime) }
    }

    /// Limits the number of segments in the playlists of the whole window; see ``PlaylistWindow/limit(to:)``.
    mutating func limit(to most: Int?, at mediaTime: Int64) {
        self.mostSegments = most
        if most != nil { self.hurry(at: mediaTime) } else { self.hurried = [] }
    }

    /// Brings the deletion of unlisted rows forward to three target durations from now: by then, players have reloaded the
    /// playlists of the whole window.
    private mutating func hurry(at mediaTime: Int64) {
        self.hurried.append((self.head, mediaTime &+ 3 * self.target))
    }

    /// Removes and returns the names of files that may be deleted.
    ///
    /// - Parameters:
    ///   - hurries: Whether to return the files of all unlisted segments, whatever their deletion times.
    ///   - isUsed: Whether the live playlists, or segments to come, need an initialization segment.
    mutating func takeExpired(
        at mediaTime: Int64, hurries: Bool, isUsed: (InitializationSegment) -> Bool
    ) -> [String] {
        var floor = hurries ? self.head : self.kept
        while let mark = self.hurried.first, mark.at <= mediaTime {
            floor = max(floor, mark.below)
            self.hurried.removeFirst()
        }
        var names: [String] = []
        var maps: [InitializationSegment] = []
        while self.kept < self.head {
            let firsts = self.tracks.indices.filter { self.tracks[$0].rows.first?.mediaSequence == self.kept }
            guard !firsts.isEmpty else {
                self.kept = min(self.head, self.tracks.compactMap { $0.rows.first?.mediaSequence }.min() ?? self.head)
                continue
            }
            guard
                self.kept < floor
                    || firsts.allSatisfy({ index in
                        self.tracks[index].rows.first.map { self.deleteTime($0, index) <= mediaTime } ?? true
                    })
            else { break }
            for index in firsts {
                let track = self.tracks[index]
                guard let row = track.rows.first else { continue }
                if !row.gap { names.append(track.names.segment(row.mediaSequence, incarnation: row.incarnation)) }
                if !maps.contains(track.maps[row.map]) { maps.append(track.maps[row.map]) }
                self.removeFirst(track: index)
            }
            self.kept += 1
        }
        if self.nextOther <= mediaTime || hurries {
            let expired = self.others.values.filter { hurries || $0.deleteAt <= mediaTime }
            for segment in expired.sorted(by: { $0.deleteAt < $1.deleteAt }) {
                self.others[segment.uri] = nil
                if !segment.gap { names.append(segment.uri) }
                if !maps.contains(segment.map) { maps.append(segment.map) }
            }
            self.nextOther = self.others.values.map(\.deleteAt).min() ?? .max
        }
        guard !maps.isEmpty else { return names }
        let used = Set(self.maps)
        return names + maps.filter { !used.contains($0) && !isUsed($0) }.map(\.uri)
    }

    /// Initialization segments that rows and ``others`` need.
    var maps: [InitializationSegment] {
        self.tracks.flatMap { Self.maps(of: $0) } + Array(Set(self.others.values.map(\.map)))
    }

    /// Initialization segments that the rows of a track need.
    func maps(ofTrack index: Int) -> [InitializationSegment] { Self.maps(of: self.tracks[index]) }

    private static func maps(of track: Track) -> [InitializationSegment] {
        zip(track.maps, track.uses).filter { $1 > 0 }.map(\.0)
    }

    /// The initialization segment of a row of a track.
    func map(of row: StateFile.Entry, track index: Int) -> InitializationSegment { self.tracks[index].maps[row.map] }

    /// Turns the listed segments with these URIs, whose files are lost, into gaps. The caller must write the journal anew.
    mutating func lose(_ uris: Set<String>) {
        guard !uris.isEmpty else { return }
        for index in self.tracks.indices {
            let names = self.tracks[index].names
            for place in 0..<self.tracks[index].rows.count {
                let row = self.tracks[index].rows[place]
                guard uris.contains(names.segment(row.mediaSequence, incarnation: row.incarnation)) else { continue }
                self.tracks[index].rows[place].gap = true
                self.tracks[index].rows[place].keyFrames = row.keyFrames.map(\.absent)
            }
        }
    }

    // MARK: Journal

    /// Adds a date range that the live playlists no longer list to the rows to store.
    mutating func note(_ range: StateFile.Range) { self.pending.append(.range(range)) }

    /// All rows, for a new journal.
    ///
    /// - Parameter live: IDs of the date ranges that the state file stores.
    func rows(besides live: Set<String>) -> [ArchiveRow] {
        var rows: [ArchiveRow] = []
        for (index, track) in self.tracks.enumerated() {
            for place in 0..<track.rows.count {
                let row = track.rows[place]
                var entry = row
                entry.map = 0
                rows.append(
                    .segment(track: track.names.track, map: self.map(of: row, track: index).uri, entry))
            }
        }
        rows += self.others.values.sorted { $0.uri < $1.uri }.map { .retired($0) }
        for (range, number) in zip(self.ranges.ranges, self.ranges.openings) where !live.contains(range.id) {
            rows.append(.range(StateFile.Range(range: range, mediaSequence: number)))
        }
        return rows
    }

    /// Notes that the journal has all rows.
    mutating func noteStored() { self.pending = [] }

    var state: StateFile.Archive {
        StateFile.Archive(
            journal: self.journal, head: self.head, kept: self.kept, longest: self.longest, rows: self.pending)
    }
}
