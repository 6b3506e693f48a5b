import HLS
import MediaTypes

/// The playlists and files of subtitle renditions.
extension Publication {
    /// Index of the track whose segments the subtitle renditions follow: the first audio track, which never sleeps.
    /// `nil` if there are no subtitle renditions.
    var subtitleReference: Int? {
        guard !self.subtitles.isEmpty else { return nil }
        return self.tracks.firstIndex { $0.kind == .audio } ?? self.tracks.indices.first
    }

    private var referenceName: String? { self.subtitleReference.map { self.tracks[$0].names.track } }

    /// The names of the subtitle segments that belong to the reference's segments among `names`.
    func subtitleNames(like names: [String]) -> [String] {
        guard let reference = self.referenceName else { return [] }
        return names.flatMap { name in
            self.subtitles.compactMap { $0.segmentName(like: name, of: reference) }
        }
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

    /// Takes over the subtitle renditions of the previous worker, and begins those that the room gets with this one.
    mutating func restoreSubtitles(_ known: [StateFile.Subtitles], store: any SegmentStore, keys: SegmentKeys?) {
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
        guard let index = self.publication.subtitleReference else { return }
        let window = self.publication.tracks[index].window
        let names = window.segments.filter { !$0.gap }.map(\.uri) + window.retired.filter { !$0.gap }.map(\.uri)
        for name in self.publication.subtitleNames(like: names) {
            if let size = self.store.size(of: name), size > 0 { self.addSubtitles(named: name, size: size) }
        }
    }
}
