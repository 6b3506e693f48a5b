import HLS
import MediaKernels
import MediaTypes

/// The low-latency playlists of an output. They list the same segments as the playlists in the directory, with the same
/// numbers and names, and also their parts, each as soon as it exists. This value is held in memory, does not wait for
/// the store and continues if the store fails.
///
/// Tracks are listed independently: an encoder that falls behind delays only its own rendition. Rules across tracks:
/// (1) A segment has the same media sequence number in every playlist, and in the directory: for both, the run starts
///     with the first segment in which any track has media.
/// (2) A discontinuity is before the same segment in every playlist. If a configuration change arrives after another
///     track has listed part of its segment, the change therefore begins with the first segment of which no track has
///     listed anything, here and in the directory.
/// (3) Playlists are shown only when each of them has a segment (at the start of a room: the first few segments).
/// (4) A segment is listed as complete once the state file has its number, or with the next part at the latest. Before
///     that, the record for the next worker includes the segment with its last part: a URI that a playlist ever listed
///     keeps its bytes and its number.
struct LiveEdgePublication: Sendable {
    let control: ServerControl
    private(set) var tracks: [LiveEdgeTrack]
    /// Whether a previous worker has published segments in this room.
    private let isContinued: Bool
    /// Minimum number of segments in each playlist when it is first shown, unless the room ends earlier.
    private let firstListed: Int
    /// Index of the first segment of the run; `nil` before any media arrives.
    private var firstSegmentIndex: Int64?
    private var isShown = false
    private var isEnded = false
    /// Indices of the tracks whose playlist has been shown at least once.
    private var known: Set<Int> = []
    /// Copy of the directory's publication, used to name new initialization segments in the same way.
    private var naming: Publication
    /// Whether a file with this name exists that viewers can request.
    private let isStored: @Sendable (String) -> Bool
    /// Changes since the last ``takeUpdate()``.
    private var update = LiveEdgeUpdate()
    /// Changes of date ranges that are not listed yet; see ``list(_:)``.
    private var laterChanges: [DateRange.Change] = []
    /// Indices of recent segments that got a discontinuity before any track had listed part of them.
    private var broken: Set<Int64> = []

    /// Makes the live edge of an output at the start of a worker's run.
    ///
    /// - Parameters:
    ///   - publication: The output's state at the start of the run.
    ///   - firstListed: Number of segments that each playlist lists when it is first shown, unless the room ends
    ///     earlier.
    ///   - subtitles: The content of the subtitle renditions' segments; `nil` if there are no such renditions.
    ///   - isStored: Returns whether viewers can request a file with a segment's name.
    init(
        _ publication: Publication, firstListed: Int = 1, subtitles: SubtitleRenditions? = nil,
        isStored: @escaping @Sendable (String) -> Bool
    ) {
        self.control = ServerControl(grid: publication.grid)
        self.tracks = publication.tracks.map { track in
            LiveEdgeTrack(
                track: track, grid: publication.grid, origin: publication.origin, incarnation: publication.incarnation)
        }
        self.isContinued = publication.nextMediaSequence > 0
        self.firstListed = firstListed
        self.naming = publication
        // Not needed here: it would keep the rows of a day in memory.
        self.naming.archive = nil
        self.isStored = isStored
        for track in publication.tracks { self.add(track.map, track.initialization, track.kind) }
        for index in self.tracks.indices { self.tracks[index].resume(publication.dateRanges) }
        if let index = publication.subtitleReference, let subtitles {
            self.tracks[index].subtitles = LiveEdgeTrack.Subtitles(
                renditions: publication.subtitles, content: subtitles)
        }
    }

    private mutating func add(_ map: InitializationSegment, _ bytes: [UInt8], _ kind: TrackKind) {
        self.update.added.append(
            LiveEdgeUpdate.Object(name: map.uri, kind: kind, content: .whole(PacketMemory(bytes))))
    }

    // MARK: Input

    /// Adds the parts and segments that a track's segmenter has completed.
    ///
    /// - Parameter partsToo: Whether parts are listed at once; if false, they are listed with their segment, which may
    ///   have been shortened.
    /// - Returns: The segments that the directory's playlists must list, and the index of the first segment of the run.
    mutating func receive(
        _ output: [TrackSegmenter.Output], track: Int, partsToo: Bool = true
    ) -> (segments: [FinishedSegment], firstSegmentIndex: Int64?) {
        guard self.tracks.indices.contains(track), !self.isEnded else { return ([], self.firstSegmentIndex) }
        var segments: [FinishedSegment] = []
        for item in output {
            switch item {
            case .part(let part):
                self.begin(at: self.tracks[track].grid.segmentIndex(ofPart: part.number))
                if partsToo { self.tracks[track].append(part, isStored: self.isStored, &self.update) }
            case .segment(let segment):
                if !segment.gap { self.begin(at: segment.segmentIndex) }
                let listed = self.tracks[track].isGap(segment.segmentIndex) ? segment.emptied : segment
                segments.append(listed)
                if self.firstSegmentIndex != nil {
                    self.tracks[track].close(listed, isStored: self.isStored, &self.update)
                }
            }
        }
        return (segments, self.firstSegmentIndex)
    }

    /// Whether any media of this run is listed.
    var hasBegun: Bool { self.firstSegmentIndex != nil }

    /// Notes that the state file now has all segments below a media sequence number, so that they can be listed as
    /// complete; rule (4) of ``LiveEdgePublication``.
    mutating func noteRecorded(_ mediaSequence: Int64) {
        for index in self.tracks.indices {
            self.tracks[index].noteRecorded(mediaSequence, isStored: self.isStored, &self.update)
        }
    }

    /// Fixes the first segment of the run, for all tracks; rule (1) of ``LiveEdgePublication``.
    mutating func begin(at segmentIndex: Int64) {
        guard self.firstSegmentIndex == nil else { return }
        self.firstSegmentIndex = segmentIndex
        for index in self.tracks.indices {
            self.tracks[index].begin(
                at: segmentIndex, discontinuity: self.naming.discontinuityIsDue, continuing: self.isContinued)
        }
    }

    /// Empties a track's list, because the track sleeps until ``wake(track:at:)``.
    mutating func sleep(track: Int) {
        guard self.tracks.indices.contains(track), !self.isEnded else { return }
        self.tracks[track].sleep(&self.update)
        self.known.remove(track)
    }

    /// Begins a track's list again with segment `segmentIndex`, which has the same media sequence number as in the other
    /// playlists. Does nothing if no other track has a playlist from which the number can be derived.
    mutating func wake(track: Int, at segmentIndex: Int64) {
        guard self.tracks.indices.contains(track), !self.isEnded,
            let other = self.tracks.first(where: { !$0.isUnlisted })
        else { return }
        let number = other.track.window.nextMediaSequence + (segmentIndex - other.segmentIndex)
        self.tracks[track].wake(at: segmentIndex, mediaSequence: number, other.dateRanges)
    }

    /// Lists a gap for a track, because the directory lists one: the live edge stops waiting for this segment.
    mutating func giveUp(track: Int, segmentIndex: Int64) {
        guard self.tracks.indices.contains(track), self.firstSegmentIndex != nil, !self.isEnded else { return }
        self.tracks[track].giveUp(segmentIndex, isStored: self.isStored, &self.update)
    }

    /// Changes a track's codec configuration from a segment on, or later if tracks have already listed part of that
    /// segment; rule (2) of ``LiveEdgePublication``.
    ///
    /// - Returns: The change with the URI of its initialization segment, and the index of the segment in which it takes
    ///   effect.
    mutating func change(_ change: ConfigurationChange, from segmentIndex: Int64) -> (ConfigurationChange, Int64) {
        guard self.tracks.indices.contains(change.track), !self.isEnded else { return (change, segmentIndex) }
        let before = self.naming.tracks[change.track].map
        self.naming.apply([change]) { _ in true }
        var named = change
        let map = self.naming.tracks[change.track].map
        named.map = map
        guard map != before else { return (named, segmentIndex) }
        self.add(map, change.initialization, self.tracks[change.track].kind)
        // If all playlists already have a discontinuity before the segment, only this track must not have listed parts
        // of it.
        let waiting = self.broken.contains(segmentIndex) ? [self.tracks[change.track]] : self.tracks
        let free =
            self.firstSegmentIndex == nil ? segmentIndex : waiting.reduce(segmentIndex) { max($0, $1.untouchedSegment) }
        if self.isContinued || free != self.firstSegmentIndex {
            for index in self.tracks.indices { self.tracks[index].breakTime(at: free) }
        }
        self.tracks[change.track].change(
            to: map, bytes: change.initialization, from: free, packets: segmentIndex)
        return (named, free)
    }

    /// Sets new segment boundaries.
    mutating func setBoundaries(_ boundaries: SegmentBoundaries) {
        for index in self.tracks.indices { self.tracks[index].boundaries = boundaries }
    }

    /// Adds a discontinuity before a segment to every playlist. Does nothing if a track has already listed part of the
    /// segment.
    mutating func breakTime(at segmentIndex: Int64) {
        guard !self.isEnded,
            self.firstSegmentIndex == nil || self.tracks.allSatisfy({ $0.untouchedSegment <= segmentIndex })
        else {
            return
        }
        self.broken = self.broken.filter { $0 + 8 > segmentIndex }
        self.broken.insert(segmentIndex)
        guard self.isContinued || segmentIndex != self.firstSegmentIndex else { return }
        for index in self.tracks.indices { self.tracks[index].breakTime(at: segmentIndex) }
    }

    /// Lists date range changes in the next version of every playlist. Exception: a range that begins, and all changes
    /// after it, wait until the segment that contains the range's start is complete in every playlist. hls.js (1.6.15)
    /// looks that segment up among the complete ones, and stops loading if it does not find it.
    mutating func list(_ changes: [DateRange.Change]) {
        guard !self.isEnded else { return }
        self.laterChanges += changes
        self.listChanges()
    }

    private mutating func listChanges() {
        while let change = self.laterChanges.first {
            if case .opened(let range) = change, !self.isEnded,
                !self.tracks.allSatisfy({ $0.isUnlisted || $0.isWhole(range.start) })
            {
                return
            }
            self.laterChanges.removeFirst()
            for index in self.tracks.indices { self.tracks[index].list(change) }
        }
    }

    /// Removes date ranges that ended before the listed media. All playlists must have the same set (rfc8216bis
    /// §6.2.4), so they are removed from all at the same time.
    private mutating func dropPassedRanges() {
        guard let first = self.tracks.first, !first.dateRanges.isEmpty,
            let start = self.tracks.compactMap({ $0.track.window.segments.first?.programDate }).min()
        else { return }
        let passed = first.dateRanges.passed(before: start)
        guard !passed.isEmpty else { return }
        let memory = Int64(self.control.canSkipUntil) &* TimeMath.nanoseconds
        for index in self.tracks.indices { self.tracks[index].removeRanges(passed, memory: memory) }
    }

    /// Limits the number of listed segments in all playlists; see ``PlaylistWindow/limit(to:)``.
    mutating func limit(to most: Int?) {
        for index in self.tracks.indices { self.tracks[index].limit(to: most, isStored: self.isStored, &self.update) }
    }

    /// Ends all playlists.
    mutating func end() {
        guard !self.isEnded else { return }
        self.isEnded = true
        for index in self.tracks.indices { self.tracks[index].end(isStored: self.isStored, &self.update) }
        self.listChanges()
    }

    // MARK: For the next worker

    /// Continues a track with the segments and parts that the previous worker has listed; call it before any media of
    /// the track arrives.
    ///
    /// - Parameter segmentIndex: Index of the next segment.
    mutating func resume(_ kept: ResumedLiveEdge, track: Int, from segmentIndex: Int64) {
        guard self.tracks.indices.contains(track) else { return }
        self.tracks[track].give(names: kept.names, from: segmentIndex)
        for segment in kept.segments { self.tracks[track].resume(segment, &self.update) }
        for part in kept.replaced {
            self.tracks[track].keep(replaced: part.part, name: part.name, of: part.mediaSequence, &self.update)
        }
    }

    /// The state of the live edge that the next worker needs.
    var record: LiveEdgeRecord {
        LiveEdgeRecord(tracks: self.tracks.map(\.record), recorded: self.tracks.map(\.recorded).min() ?? 0)
    }

    /// The segments and parts that the playlists have listed so far, as a mark for the next worker.
    func mark(_ incarnation: Int64) -> LiveEdgeMark {
        LiveEdgeMark(incarnation: incarnation, tracks: self.tracks.map(\.reach))
    }

    // MARK: Output

    /// Returns all changes since the last call, with the playlists of audio tracks first.
    mutating func takeUpdate() -> LiveEdgeUpdate {
        // Rule (3). If more than one segment is required, the segments must be listed as complete, because players
        // count only those.
        let least = self.isEnded ? 1 : self.firstListed
        if !self.isShown,
            self.tracks.allSatisfy({
                $0.isUnlisted || (least > 1 ? $0.track.window.segments.count : $0.segmentCount) >= least
            })
        {
            self.isShown = true
        }
        if self.isShown {
            self.listChanges()
            self.dropPassedRanges()
            let order = self.tracks.indices.sorted { self.tracks[$0].kind == .audio && self.tracks[$1].kind != .audio }
            for index in order where self.tracks[index].isChanged || !self.known.contains(index) {
                guard self.isEnded || !self.tracks[index].isUnlisted else { continue }
                self.known.insert(index)
                let playlist = self.tracks[index].takePlaylist(self.control)
                self.update.playlists.append((self.tracks[index].playlistName, playlist))
                self.update.playlists += self.tracks[index].takeSubtitles(like: playlist)
                if let list = self.tracks[index].takeIFrames(self.control) { self.update.playlists.append(list) }
            }
        }
        defer { self.update = LiveEdgeUpdate() }
        return self.update
    }
}
