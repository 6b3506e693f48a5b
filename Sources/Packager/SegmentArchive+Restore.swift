import HLS
import LibAV
import MediaTypes

extension HLSOutputSettings {
    /// Longest window, in seconds, that the live playlists list completely.
    static let longestLiveWindow = 600
    /// Length in seconds of the live playlists of a longer window. It is short, since these playlists and the state file
    /// are written with every segment.
    static let splitLiveWindow = 60
    /// Seconds of media between two versions of the playlists of the whole window, and their minimum target duration.
    static let archivePace = 30

    /// Whether further playlists, written rarely, list the whole window.
    package var hasWholeWindowPlaylists: Bool {
        self.playlistType == .live && self.windowSeconds > Self.longestLiveWindow
    }

    /// Whether the live playlists are sliding windows or keep every segment.
    var liveStyle: PlaylistWindow.Style {
        self.hasWholeWindowPlaylists ? .live(windowSeconds: Self.splitLiveWindow) : self.windowStyle
    }
}

extension SegmentArchive {
    /// Restores the archive of a room, with unlisted files that the state file has.
    ///
    /// A row that its track's live playlist does not continue is no longer listed: an older program, which does not know
    /// the archive, has served the room meanwhile. Its file is deleted later. A listed row whose file is missing or has
    /// another size becomes a gap.
    ///
    /// - Parameters:
    ///   - tracks: The tracks of this run.
    ///   - leftBehind: Files of tracks that this run does not have.
    /// - Returns: `nil` if the room has no archive and needs none.
    static func restore(
        _ settings: HLSOutputSettings, tracks: [(name: String, kind: TrackKind)], state: StateFile,
        leftBehind: [RetiredSegment], store: any SegmentStore, keys: SegmentKeys?
    ) -> SegmentArchive? {
        let unknown = state.archive == nil ? self.forgotten(state, store) : []
        guard settings.hasWholeWindowPlaylists || state.archive != nil || !unknown.isEmpty else { return nil }
        let first = state.tracks.compactMap(\.entries.first?.mediaSequence).min() ?? state.nextMediaSequence
        var archive = SegmentArchive(
            tracks: tracks, grid: state.grid, windowSeconds: max(0, min(settings.windowSeconds, 7 * 86_400)),
            slackSeconds: max(0, min(settings.deleteGraceSeconds, 86_400)) + HLSOutputSettings.archivePace,
            head: min(state.archive?.head ?? first, first), kept: min(state.archive?.kept ?? first, first),
            longest: state.archive?.longest ?? 0)
        archive.journal = state.archive?.journal
        archive.keep(unknown, state)
        for old in state.tracks where tracks.contains(where: { $0.name == old.name }) {
            for segment in old.retiredSegments { archive.keep(segment) }
        }
        let end = TimeMath.rescale(state.nextFrame, from: Int64(state.grid.fps), to: TimeMath.nanoseconds)
        for segment in leftBehind {
            // Their playlists of the whole window were longer than the live ones.
            archive.keep(
                RetiredSegment(
                    uri: segment.uri, map: segment.map,
                    deleteAt: max(segment.deleteAt, end &+ archive.longest &+ archive.slack), gap: segment.gap,
                    byteCount: segment.byteCount))
        }
        let journal = archive.journal.flatMap { store.read($0) } ?? []
        archive.restore(ArchiveRow.read(journal) + (state.archive?.rows ?? []), state, end: end)
        archive.check(store, keys)
        for row in state.dateRanges { archive.ranges.list(.opened(row.range), mediaSequence: row.mediaSequence, at: 0) }
        return archive
    }

    /// The rows of journals that the state file does not name: an older program, which does not know journals, has
    /// written the state file since.
    private static func forgotten(_ state: StateFile, _ store: any SegmentStore) -> [ArchiveRow] {
        let before = state.incarnation - 1
        guard before >= 1 else { return [] }
        return (max(1, before - HLSPackager.orphanedRuns)...before).flatMap { incarnation in
            store.read(ArchiveJournal.name(incarnation: incarnation)).map(ArchiveRow.read) ?? []
        }
    }

    /// Keeps the files of forgotten rows until their deletion times, except those that the live playlists list.
    private mutating func keep(_ forgotten: [ArchiveRow], _ state: StateFile) {
        let end = TimeMath.rescale(state.nextFrame, from: Int64(state.grid.fps), to: TimeMath.nanoseconds)
        for row in forgotten {
            switch row {
            case .retired(let segment): self.keep(segment)
            case .segment(let name, let map, let entry):
                let first =
                    state.tracks.first { $0.name == name }?.entries.first?.mediaSequence ?? state.nextMediaSequence
                guard entry.mediaSequence < first else { continue }
                self.keep(
                    RetiredSegment(
                        uri: TrackNames(track: name).segment(entry.mediaSequence, incarnation: entry.incarnation),
                        map: InitializationSegment(uri: map), deleteAt: end &+ self.slack, gap: entry.gap,
                        byteCount: entry.byteCount))
            case .range: break
            }
        }
    }

    private mutating func restore(_ rows: [ArchiveRow], _ state: StateFile, end: Int64) {
        var found = self.tracks.map { _ in [Int64: (StateFile.Entry, String)]() }
        let live = Set(state.dateRanges.map(\.range.id))
        for row in rows {
            switch row {
            case .retired(let segment): self.keep(segment)
            case .range(let range):
                guard !live.contains(range.range.id) else { continue }
                self.ranges.list(.opened(range.range), mediaSequence: range.mediaSequence, at: 0)
            case .segment(let name, let map, let entry):
                guard entry.mediaSequence >= self.kept else { continue }
                if let index = self.tracks.firstIndex(where: { $0.names.track == name }) {
                    found[index][entry.mediaSequence] = (entry, map)
                } else {
                    // The track is no longer configured.
                    self.keep(
                        RetiredSegment(
                            uri: TrackNames(track: name).segment(entry.mediaSequence, incarnation: entry.incarnation),
                            map: InitializationSegment(uri: map), deleteAt: end &+ self.longest &+ self.slack,
                            gap: entry.gap, byteCount: entry.byteCount))
                }
            }
        }
        for index in self.tracks.indices {
            let name = self.tracks[index].names.track
            let next = state.tracks.first { $0.name == name }?.entries.first?.mediaSequence ?? state.nextMediaSequence
            var first = next
            while found[index][first - 1] != nil { first -= 1 }
            for number in first..<next {
                guard let (entry, map) = found[index].removeValue(forKey: number) else { continue }
                self.add(entry, InitializationSegment(uri: map), track: index)
            }
            // Rows with numbers that the live playlist has are ignored: it lists these segments.
            for (number, (entry, map)) in found[index] where number < first {
                self.keep(
                    RetiredSegment(
                        uri: self.tracks[index].names.segment(number, incarnation: entry.incarnation),
                        map: InitializationSegment(uri: map), deleteAt: self.deleteTime(entry, index), gap: entry.gap,
                        byteCount: entry.byteCount))
            }
        }
    }

    /// Turns listed rows whose files are missing or have another size into gaps.
    private mutating func check(_ store: any SegmentStore, _ keys: SegmentKeys?) {
        var lost: Set<String> = []
        for track in self.tracks {
            for place in 0..<track.rows.count {
                let row = track.rows[place]
                guard row.mediaSequence >= self.head, !row.gap else { continue }
                let name = track.names.segment(row.mediaSequence, incarnation: row.incarnation)
                let size = keys == nil ? row.byteCount : BlockCipher.size(ofClear: row.byteCount)
                if store.size(of: name) != size { lost.insert(name) }
            }
        }
        self.lose(lost)
    }
}
