import HLS
import MediaKernels
import MediaTypes

/// The live edge of an output: the same segments the directory lists, in the same numbers and under the same names, with
/// their parts and as soon as they are there. It lives in memory, waits for no store and is not stopped by one that fails.
///
/// Tracks are listed independently: an encoder that falls behind delays its own rendition alone. What holds them together:
/// (1) The media sequence number of a slot is the same in every playlist, and in the directory: the first slot any track has
///     media in is the run's first, for both.
/// (2) A discontinuity is in the same slot of every playlist. A configuration that is told after another track has listed
///     something of its slot therefore begins with the first slot nobody has listed anything of, here and in the directory.
/// (3) Nothing is shown until every playlist has a segment, or as many as a room begins with.
/// (4) A segment is listed as whole once the state file knows its number, or else with the next part. Before that the record
///     for a successor has it, with its last part: a URI that a playlist ever listed keeps its bytes and its number.
struct EdgePublication: Sendable {
    let control: ServerControl
    private(set) var tracks: [EdgeTrack]
    private let isContinued: Bool
    /// Segments of each playlist when it is shown first.
    private let firstListed: Int
    private var firstSlot: Int64?
    private var isShown = false
    private var isEnded = false
    /// Tracks whose playlist has been shown.
    private var known: Set<Int> = []
    /// Names new initialization segments as the directory does.
    private var naming: Publication
    private let isStored: @Sendable (String) -> Bool
    private var update = LiveUpdate()
    /// What has happened to date ranges and is not listed yet; see ``list(_:)``.
    private var laterChanges: [DateRange.Change] = []
    /// Slots that were broken before any track listed something of them; the newest.
    private var broken: Set<Int64> = []

    /// - Parameters:
    ///   - publication: As the run begins with it.
    ///   - firstListed: Segments that each playlist lists when it is shown first, unless the room ends before.
    ///   - isStored: A file has the segment of that name, and viewers can have it.
    init(_ publication: Publication, firstListed: Int = 1, isStored: @escaping @Sendable (String) -> Bool) {
        self.control = ServerControl(grid: publication.grid)
        self.tracks = publication.tracks.map { track in
            EdgeTrack(
                track: track, grid: publication.grid, origin: publication.origin, incarnation: publication.incarnation)
        }
        self.isContinued = publication.nextMediaSequence > 0
        self.firstListed = firstListed
        self.naming = publication
        self.isStored = isStored
        for track in publication.tracks { self.add(track.map, track.initialization, track.kind) }
        for index in self.tracks.indices { self.tracks[index].resume(publication.dateRanges) }
    }

    private mutating func add(_ map: InitializationSegment, _ bytes: [UInt8], _ kind: TrackKind) {
        self.update.added.append(
            LiveUpdate.Object(name: map.uri, kind: kind, content: .whole(PacketMemory(bytes))))
    }

    // MARK: What comes in

    /// What a segmenter has completed.
    ///
    /// - Parameter partsToo: Parts are listed as they come; otherwise with their segment, which may have been cut.
    /// - Returns: The segments the directory lists, and the first slot of the run.
    mutating func receive(
        _ output: [TrackSegmenter.Output], track: Int, partsToo: Bool = true
    ) -> (segments: [FinishedSegment], firstSlot: Int64?) {
        guard self.tracks.indices.contains(track), !self.isEnded else { return ([], self.firstSlot) }
        var segments: [FinishedSegment] = []
        for item in output {
            switch item {
            case .part(let part):
                self.begin(at: self.tracks[track].grid.slot(ofPart: part.number))
                if partsToo { self.tracks[track].append(part, isStored: self.isStored, &self.update) }
            case .segment(let segment):
                if !segment.gap { self.begin(at: segment.slot) }
                let listed = self.tracks[track].isGap(segment.slot) ? segment.emptied : segment
                segments.append(listed)
                if self.firstSlot != nil { self.tracks[track].close(listed, isStored: self.isStored, &self.update) }
            }
        }
        return (segments, self.firstSlot)
    }

    /// Something of this run is listed.
    var hasBegun: Bool { self.firstSlot != nil }

    /// The state file knows all segments below a number. Keeps (4).
    mutating func noteRecorded(_ mediaSequence: Int64) {
        for index in self.tracks.indices {
            self.tracks[index].noteRecorded(mediaSequence, isStored: self.isStored, &self.update)
        }
    }

    /// Keeps (1).
    mutating func begin(at slot: Int64) {
        guard self.firstSlot == nil else { return }
        self.firstSlot = slot
        for index in self.tracks.indices {
            self.tracks[index].begin(
                at: slot, discontinuity: self.naming.discontinuityIsDue, continuing: self.isContinued)
        }
    }

    /// The directory lists a gap for the track: nobody waits for it any longer.
    mutating func giveUp(track: Int, slot: Int64) {
        guard self.tracks.indices.contains(track), self.firstSlot != nil, !self.isEnded else { return }
        self.tracks[track].giveUp(slot, isStored: self.isStored, &self.update)
    }

    /// A track's configuration changes with a slot. Keeps (2).
    ///
    /// - Returns: The change with its name, and the slot it takes place in.
    mutating func change(_ change: ConfigurationChange, from slot: Int64) -> (ConfigurationChange, Int64) {
        guard self.tracks.indices.contains(change.track), !self.isEnded else { return (change, slot) }
        let before = self.naming.tracks[change.track].map
        self.naming.apply([change]) { _ in true }
        var named = change
        let map = self.naming.tracks[change.track].map
        named.map = map
        guard map != before else { return (named, slot) }
        self.add(map, change.initialization, self.tracks[change.track].kind)
        // A break that all playlists have already leaves the change to this track alone.
        let waiting = self.broken.contains(slot) ? [self.tracks[change.track]] : self.tracks
        let free = self.firstSlot == nil ? slot : waiting.reduce(slot) { max($0, $1.untouchedSlot) }
        if self.isContinued || free != self.firstSlot {
            for index in self.tracks.indices { self.tracks[index].breakTime(at: free) }
        }
        self.tracks[change.track].change(
            to: map, bytes: change.initialization, from: free, packets: slot)
        return (named, free)
    }

    /// Slots begin elsewhere from now on.
    mutating func setSlots(_ slots: SlotTable) {
        for index in self.tracks.indices { self.tracks[index].slots = slots }
    }

    /// Time is broken with a slot in every playlist: one nothing of which is listed anywhere.
    mutating func breakTime(at slot: Int64) {
        guard !self.isEnded, self.firstSlot == nil || self.tracks.allSatisfy({ $0.untouchedSlot <= slot }) else {
            return
        }
        self.broken = self.broken.filter { $0 + 8 > slot }
        self.broken.insert(slot)
        guard self.isContinued || slot != self.firstSlot else { return }
        for index in self.tracks.indices { self.tracks[index].breakTime(at: slot) }
    }

    /// Something has happened to the date ranges: it is in every playlist's next text, but for a range that begins, and
    /// what follows it. That is listed once the segment it begins in is whole in every playlist: hls.js (1.6.15) looks that
    /// segment up among the whole ones, and stops loading where it does not find it.
    mutating func list(_ changes: [DateRange.Change]) {
        guard !self.isEnded else { return }
        self.laterChanges += changes
        self.listChanges()
    }

    private mutating func listChanges() {
        while let change = self.laterChanges.first {
            if case .opened(let range) = change, !self.isEnded,
                !self.tracks.allSatisfy({ $0.isWhole(range.start) })
            {
                return
            }
            self.laterChanges.removeFirst()
            for index in self.tracks.indices { self.tracks[index].list(change) }
        }
    }

    /// The set is the same in every playlist (§6.2.4): a range leaves all of them at once.
    private mutating func dropPassedRanges() {
        guard let first = self.tracks.first, !first.dateRanges.isEmpty,
            let start = self.tracks.compactMap({ $0.track.window.segments.first?.programDate }).min()
        else { return }
        let passed = first.dateRanges.passed(before: start)
        guard !passed.isEmpty else { return }
        let memory = Int64(self.control.canSkipUntil) &* TimeMath.nanoseconds
        for index in self.tracks.indices { self.tracks[index].removeRanges(passed, memory: memory) }
    }

    /// Lists so many segments at most; see ``PlaylistWindow/limit(to:)``.
    mutating func limit(to most: Int?) {
        for index in self.tracks.indices { self.tracks[index].limit(to: most, isStored: self.isStored, &self.update) }
    }

    /// Nothing follows.
    mutating func end() {
        guard !self.isEnded else { return }
        self.isEnded = true
        for index in self.tracks.indices { self.tracks[index].end(isStored: self.isStored, &self.update) }
        self.listChanges()
    }

    // MARK: For a successor

    /// Goes on with what the worker before has shown of a track; before anything of it comes in.
    ///
    /// - Parameter slot: Of the segment that comes next.
    mutating func resume(_ kept: KeptEdge, track: Int, from slot: Int64) {
        guard self.tracks.indices.contains(track) else { return }
        self.tracks[track].give(names: kept.names, from: slot)
        for segment in kept.segments { self.tracks[track].resume(segment, &self.update) }
        for part in kept.replaced {
            self.tracks[track].keep(replaced: part.part, name: part.name, of: part.mediaSequence, &self.update)
        }
    }

    /// What a successor needs to know of the live edge.
    var record: EdgeRecord {
        EdgeRecord(tracks: self.tracks.map(\.record), recorded: self.tracks.map(\.recorded).min() ?? 0)
    }

    /// How far viewers have been shown the live edge.
    func mark(_ incarnation: Int64) -> EdgeMark { EdgeMark(incarnation: incarnation, tracks: self.tracks.map(\.reach)) }

    // MARK: What goes out

    /// Everything that has changed since the last call; sound first.
    mutating func takeUpdate() -> LiveUpdate {
        // Keeps (3). Where more than one is waited for they must be listed as whole: players count nothing else.
        let least = self.isEnded ? 1 : self.firstListed
        if !self.isShown,
            self.tracks.allSatisfy({ (least > 1 ? $0.track.window.segments.count : $0.segmentCount) >= least })
        {
            self.isShown = true
        }
        if self.isShown {
            self.listChanges()
            self.dropPassedRanges()
            let order = self.tracks.indices.sorted { self.tracks[$0].kind == .audio && self.tracks[$1].kind != .audio }
            for index in order where self.tracks[index].isChanged || !self.known.contains(index) {
                self.known.insert(index)
                self.update.playlists.append(
                    (self.tracks[index].playlistName, self.tracks[index].takePlaylist(self.control)))
                if let list = self.tracks[index].takeIFrames(self.control) { self.update.playlists.append(list) }
            }
        }
        defer { self.update = LiveUpdate() }
        return self.update
    }
}
