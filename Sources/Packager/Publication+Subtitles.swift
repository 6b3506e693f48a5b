import HLS
import MediaTypes

/// The playlists and files of subtitle renditions.
extension Publication {
    /// Index of the track whose segments the subtitle renditions follow; `nil` if there are no subtitle renditions.
    var subtitleReference: Int? {
        guard !self.subtitles.isEmpty else { return nil }
        return self.tracks.firstIndex { $0.names.track == self.subtitleTrack }
    }

    /// Name of the track whose segments this run's subtitles follow: that of the previous worker, or else an audio track,
    /// because audio never sleeps. A track that the previous worker had, too, is preferred: it has the segments to which the
    /// earlier subtitles belong, with the same numbers.
    private func subtitleTrack(after state: StateFile) -> String? {
        let names = self.tracks.map(\.names.track)
        if let before = state.subtitleReference, names.contains(before) { return before }
        let audio = self.tracks.filter { $0.kind == .audio }.map(\.names.track)
        return audio.first { name in state.tracks.contains { $0.name == name } } ?? audio.first ?? names.first
    }

    private var referenceName: String? { self.subtitleReference.map { self.tracks[$0].names.track } }

    /// The names of the subtitle segments that belong to the reference's segments among `names`.
    func subtitleNames(like names: [String]) -> [String] {
        guard let reference = self.referenceName else { return [] }
        return names.flatMap { name in
            self.subtitles.compactMap { $0.segmentName(like: name, of: reference) }
        }
    }

    /// The names of the segments to which a subtitle segment with this name may belong.
    func subtitleReferences(of file: String) -> [String] {
        let reference = self.referenceName
        let current = reference.map { reference in
            self.subtitles.compactMap { $0.referenceName(like: file, of: reference) }
        }
        return (current ?? []) + self.formerSubtitles.compactMap { $0.referenceName(like: file) }
    }

    /// The texts of the subtitle renditions' playlists.
    var subtitlePlaylists: [(name: String, text: String)] {
        guard let index = self.subtitleReference else { return [] }
        let track = self.tracks[index]
        let playlist = MediaPlaylist(track.window, dateRanges: self.dateRanges)
        return self.subtitles.map {
            (name: $0.playlistName, text: $0.playlist(like: playlist, of: track.names.track).rendered())
        }
    }

    /// Takes over the subtitle renditions of the previous worker, and begins those that the room gets with this one. If
    /// the track that the subtitles follow is one that the previous worker did not have, then all renditions begin
    /// anew, as that track does.
    mutating func restoreSubtitles(_ state: StateFile, store: any SegmentStore, keys: SegmentKeys?) {
        self.subtitleTrack = self.subtitleTrack(after: state)
        guard let reference = self.subtitleTrack else { return }
        let isContinued = state.tracks.contains { $0.name == reference }
        self.restoreFormerSubtitles(
            state, reference: isContinued ? reference : state.subtitleReference ?? reference, restarts: !isContinued)
        let known = isContinued ? state.subtitles : []
        self.subtitles = self.settings.subtitles.map { settings in
            SubtitlePublication(
                settings: settings,
                first: known.first { $0.name == settings.name }?.first ?? self.nextMediaSequence, keys: keys)
        }
        guard let index = self.subtitleReference else { return }
        let track = self.tracks[index]
        for segment in self.archived(ofTrack: index) + track.window.segments where !segment.gap {
            for place in self.subtitles.indices where segment.mediaSequence >= self.subtitles[place].first {
                // A missing file of a listed segment stops some players.
                let name = self.subtitles[place].segmentName(like: segment.uri, of: track.names.track)
                let size = name.flatMap { store.size(of: $0) } ?? 0
                if size == 0 { self.subtitles[place].lost.insert(segment.mediaSequence) }
            }
        }
    }
}

/// Writes the files of subtitle renditions.
extension PublicationWriter {
    /// Writes the subtitle segments that belong to a segment of the reference, before that segment: if this fails, the
    /// reference's segment counts as not written either.
    ///
    /// - Parameter name: File name of the reference's segment.
    func writeSubtitles(like segment: FinishedSegment, _ number: Int64, _ name: String) throws(MediaError) {
        guard let index = self.publication.subtitleReference else { return }
        let reference = self.publication.tracks[index].names.track
        for rendition in self.publication.subtitles {
            guard let own = rendition.segmentName(like: name, of: reference),
                let bytes = self.subtitleBytes(
                    of: rendition, number, start: segment.start, duration: segment.duration)
            else { continue }
            try self.store.put(own, [bytes], durable: false)
        }
    }

    /// Makes the subtitle segments that belong to a listed segment of the reference available to viewers.
    mutating func addSubtitles(like segment: Segment) {
        guard let index = self.publication.subtitleReference else { return }
        let reference = self.publication.tracks[index].names.track
        for rendition in self.publication.subtitles {
            guard let own = rendition.segmentName(like: segment.uri, of: reference),
                let bytes = self.subtitleBytes(
                    of: rendition, segment.mediaSequence, start: segment.start, duration: segment.duration)
            else { continue }
            self.addSubtitles(named: own, size: bytes.count)
        }
    }

    /// Makes the subtitle segments that the previous worker has written available to viewers.
    mutating func addRestoredSubtitles() {
        let publication = self.publication
        guard !publication.subtitles.isEmpty || !publication.formerSubtitles.isEmpty else { return }
        let names = publication.tracks.map(\.window).flatMap { window in
            window.segments.filter { !$0.gap }.map(\.uri) + window.retired.filter { !$0.gap }.map(\.uri)
        }
        for name in publication.subtitleNames(like: names) + publication.formerSubtitleNames(like: names) {
            if let size = self.store.size(of: name), size > 0 { self.addSubtitles(named: name, size: size) }
        }
    }
}
