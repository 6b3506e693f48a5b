package import HLS
import MediaTypes

/// Subtitle renditions: cues come by commands, and segments follow those of a track.
extension HLSPackager {
    /// Names of the subtitle renditions.
    package var subtitleNames: [String] { self.settings.subtitles.map(\.name) }

    /// Adds cues to a subtitle rendition: all of them or, if one is refused, none. A cue is shown from the first segment on
    /// that no playlist can have listed. Callable from any thread.
    ///
    /// - Parameters:
    ///   - programTime: The program's current time in milliseconds.
    ///   - now: Nanoseconds of one monotonic clock, for the rate limit.
    /// - Returns: The cues with the times at which they are shown; `nil` if there is no rendition of that name.
    /// - Throws: ``SubtitleCues/Refused`` with the first refused cue.
    package func addSubtitles(
        _ cues: [SubtitleCue], to name: String, programTime: Int64, now: Int64
    ) throws(SubtitleCues.Refused) -> [SubtitleCue]? {
        try self.subtitles?.add(cues, to: name, programTime: programTime, now: now)
    }

    /// Takes over the subtitle segments that the previous worker's live edge has listed and that the state file does not
    /// have. One without a file becomes a gap, because its bytes are not known.
    func resumeSubtitles(_ publication: inout Publication) {
        guard let subtitles = self.subtitles, let index = publication.subtitleReference else { return }
        let track = publication.tracks[index]
        for (number, incarnation) in track.given.sorted(by: { $0.key < $1.key })
        where incarnation != self.claimed.incarnation {
            let uri = track.names.segment(number, incarnation: incarnation)
            for place in publication.subtitles.indices {
                let rendition = publication.subtitles[place]
                let name = rendition.segmentName(like: uri, of: track.names.track)
                if let bytes = name.flatMap({ self.store.read($0) }), !bytes.isEmpty,
                    let clear = rendition.opened(bytes, of: number)
                {
                    subtitles.keep(rendition.name, number, clear)
                } else {
                    publication.subtitles[place].lost.insert(number)
                }
            }
        }
    }

    /// Removes the playlists and segments of subtitle renditions that the room no longer has. Call it before the journal of
    /// the previous worker's archive is removed.
    func removeFormerSubtitles() {
        let names = Set(self.subtitleNames)
        let formers = self.claimed.subtitles.filter { !names.contains($0.name) }
        guard !formers.isEmpty else { return }
        var archived: [(track: String, uri: String)] = []
        if let archive = self.claimed.archive {
            let rows = archive.journal.flatMap { self.store.read($0) }.map(ArchiveRow.read) ?? []
            for case .segment(let track, _, let entry) in rows + archive.rows {
                let uri = TrackNames(track: track).segment(entry.mediaSequence, incarnation: entry.incarnation)
                archived.append((track, uri))
            }
        }
        for former in formers {
            var playlists = [TrackNames(track: former.name).playlist]
            if self.claimed.archive != nil {
                playlists.append(Publication.wholeWindowNames(of: former.name).playlist)
            }
            for name in playlists { try? self.store.remove(name) }
            // The same number of several tracks belongs to one file.
            var files = Set(
                archived.compactMap { SubtitlePublication.segmentName(former.name, like: $0.uri, of: $0.track) })
            for track in self.claimed.tracks {
                let own = TrackNames(track: track.name)
                let uris =
                    track.entries.map { own.segment($0.mediaSequence, incarnation: $0.incarnation) }
                    + track.retired.map(\.uri)
                for uri in uris {
                    let name = SubtitlePublication.segmentName(former.name, like: uri, of: track.name)
                    if let name { files.insert(name) }
                }
            }
            for name in files { try? self.store.remove(name) }
        }
    }

    /// Looks up a subtitle segment that only the playlists of the whole window list, or that they listed until recently.
    func archivedSubtitles(named name: String) -> PublishedObject? {
        guard name.hasSuffix(SubtitlePublication.fileEnd), let publication = self.listing.withLock({ $0 }),
            let archive = publication.archive, let index = publication.subtitleReference,
            publication.subtitles.contains(where: { rendition in
                let uri = rendition.referenceName(like: name, of: publication.tracks[index].names.track)
                return uri.map { archive.file(named: $0) != nil } ?? false
            }), let path = self.store.path(of: name), let size = self.store.size(of: name)
        else { return nil }
        return PublishedObject(
            body: .file(path: path, size: size), contentType: SubtitleSegment.contentType,
            cacheControl: PublishedObject.immutable)
    }
}
