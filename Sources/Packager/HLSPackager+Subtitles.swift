package import HLS
import MediaTypes

/// Subtitle renditions: cues come by commands, and segments follow those of a track.
extension HLSPackager {
    /// Names of the subtitle renditions.
    package var subtitleNames: [String] { self.settings.subtitles.map(\.name) }

    /// Adds cues to a subtitle rendition: all of them or, if one is refused, none. A cue that is too late for a segment
    /// is shown from the first segment on that no playlist can have listed. Callable from any thread.
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

    /// Removes the playlists of subtitle renditions that the room no longer has. Their segments stay for players that have such
    /// a playlist; see ``FormerSubtitles``.
    func removeFormerSubtitlePlaylists() {
        let names = Set(self.subtitleNames)
        for former in self.claimed.subtitles where !names.contains(former.name) {
            try? self.store.remove(TrackNames(track: former.name).playlist)
            if self.claimed.archive != nil {
                try? self.store.remove(Publication.wholeWindowNames(of: former.name).playlist)
            }
        }
    }

    /// Looks up a subtitle segment that only the playlists of the whole window list, or that they listed until recently.
    func archivedSubtitles(named name: String) -> PublishedObject? {
        guard name.hasSuffix(SubtitlePublication.fileEnd), let publication = self.listing.withLock({ $0 }),
            let archive = publication.archive,
            publication.subtitleReferences(of: name).contains(where: { archive.file(named: $0) != nil }),
            let path = self.store.path(of: name), let size = self.store.size(of: name)
        else { return nil }
        return PublishedObject(
            body: .file(path: path, size: size), contentType: SubtitleSegment.contentType,
            cacheControl: PublishedObject.immutable)
    }
}
