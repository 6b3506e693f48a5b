import MediaTypes

/// Recognizes the files that workers write for the tracks of an output, by their names.
///
/// The names are those of ``TrackNames``, of ``MPEGTSPublication``, and of slate that replaces lost segments in a store.
package struct TrackFiles: Sendable, Hashable {
    /// The container of the segments.
    package enum Container: Sendable, Hashable {
        /// Fragmented MP4, with initialization segments and parts.
        case fragmentedMP4
        /// MPEG-TS segments.
        case mpegTS
    }

    /// The kind of a file.
    package enum Kind: Sendable, Hashable {
        /// A media playlist or an I-frame playlist.
        case playlist
        /// A segment, a part or an initialization segment. Its name contains an incarnation.
        case media
    }

    /// Names of further files in the directory of an HLS output: the live edge at which the next worker continues, and the
    /// keys of an encrypted room.
    package static let notes = [LiveEdgeRecord.name, LiveEdgeMark.name, SegmentKeys.fileName]
    /// Name of the file with the room's origin in the directory of an MPEG-TS output: nanoseconds since the Unix epoch
    /// as decimal digits, and a line break.
    package static let originNote = MPEGTSPublication.noteName

    private let tracks: Set<String>
    private let container: Container

    /// - Parameter tracks: Names of the tracks; in an MPEG-TS output those of the renditions. Names that are not valid
    ///   names of tracks are ignored.
    package init(tracks: some Sequence<String>, container: Container) {
        self.tracks = Set(tracks.filter(TrackNames.isValid))
        self.container = container
    }

    /// The name of the track to which a media playlist belongs, by the playlist's file name; `nil` if the name is not
    /// that of a media playlist.
    ///
    /// - Parameter isIFrames: Whether the name must be that of an I-frame playlist.
    package static func track(ofPlaylist name: String, isIFrames: Bool = false) -> String? {
        let marker = isIFrames ? Self.iFramesEnd : Self.playlistEnd
        guard name.hasSuffix(marker) else { return nil }
        let track = String(name.dropLast(marker.count))
        return TrackNames.isValid(track) ? track : nil
    }

    /// Whether a name is that of a track, or of a track's playlists of the whole window.
    private func isTrack(_ name: String) -> Bool {
        self.tracks.contains(name)
            || name.hasSuffix(Publication.wholeWindowMark)
                && self.tracks.contains(String(name.dropLast(Publication.wholeWindowMark.utf8.count)))
    }

    /// Whether a name is that of the journal of segments that only the playlists of the whole window list.
    package static func isJournal(_ name: String) -> Bool { ArchiveJournal.isName(name) }

    /// The name of the multivariant playlist of the whole window, next to the multivariant playlist `name`.
    package static func wholeWindowPlaylist(nextTo name: String) -> String {
        Publication.wholeWindowName(ofMultivariant: name)
    }

    /// The name of the media playlist of a track.
    package static func playlist(of track: String) -> String { TrackNames(track: track).playlist }

    private static let playlistEnd = TrackNames.playlistEnd
    private static let iFramesEnd = TrackNames.iFramesEnd
    private static let slateEnd = "-slate"

    /// The kind of the file of this name; `nil` if workers do not use the name for a file of these tracks.
    package func kind(of name: String) -> Kind? {
        if let track = Self.track(ofPlaylist: name), self.isTrack(track) { return .playlist }
        switch self.container {
        case .mpegTS:
            return self.isSegment(name, end: ".ts") ? .media : nil
        case .fragmentedMP4:
            if let track = Self.track(ofPlaylist: name, isIFrames: true), self.isTrack(track) {
                return .playlist
            }
            return self.isSegment(name, end: ".m4s") || self.isSegment(name, end: SubtitlePublication.fileEnd)
                || self.isInitialization(name) ? .media : nil
        }
    }

    /// Whether a name is that of a segment, `TRACK-INCARNATION-NUMBER`, or of a part, with `.INDEX` after it. Slate ends
    /// with `-slate`.
    private func isSegment(_ name: String, end: String) -> Bool {
        guard name.hasSuffix(end) else { return false }
        var stem = name.dropLast(end.count)
        if self.container == .fragmentedMP4 {
            if stem.hasSuffix(Self.slateEnd) { stem = stem.dropLast(Self.slateEnd.count) }
            stem = Self.withoutNumber(stem, after: ".") ?? stem
        }
        guard let head = Self.withoutNumber(stem, after: "-"), let track = Self.withoutNumber(head, after: "-") else {
            return false
        }
        return self.tracks.contains(String(track))
    }

    /// Whether a name is that of an initialization segment: `TRACK-INCARNATION.mp4` or `TRACK-INCARNATION-CHANGE.mp4`.
    private func isInitialization(_ name: String) -> Bool {
        let end = ".mp4"
        guard name.hasSuffix(end), let head = Self.withoutNumber(name.dropLast(end.count), after: "-") else {
            return false
        }
        return self.tracks.contains(String(head))
            || Self.withoutNumber(head, after: "-").map { self.tracks.contains(String($0)) } == true
    }

    /// Removes a mark and the decimal digits after it from the end of a text; `nil` if the text does not end with them.
    private static func withoutNumber(_ text: Substring, after mark: Character) -> Substring? {
        guard let place = text.lastIndex(of: mark), place > text.startIndex,
            text[text.index(after: place)...].isDigits
        else { return nil }
        return text[..<place]
    }
}
