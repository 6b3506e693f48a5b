import HLS
import MediaTypes

/// The playlists of the whole window, for viewers who seek back further than the live playlists reach.
extension Publication {
    /// Suffix in the names of the playlists of the whole window: after the track's name, or before `.m3u8` in the name of
    /// the multivariant playlist.
    static let wholeWindowMark = "-dvr"

    /// The names of a track's playlists of the whole window.
    static func wholeWindowNames(of track: String) -> TrackNames { TrackNames(track: track + self.wholeWindowMark) }

    /// Makes the name of the multivariant playlist of the whole window from that of the live playlists' one.
    static func wholeWindowName(ofMultivariant name: String) -> String {
        "\(name.dropLast(TrackNames.playlistEnd.utf8.count))\(self.wholeWindowMark)\(TrackNames.playlistEnd)"
    }

    var wholeWindowMultivariantName: String { Self.wholeWindowName(ofMultivariant: self.settings.multivariantName) }

    /// Names of all playlists of the whole window; empty if the output has none.
    var wholeWindowNames: [String] {
        guard self.settings.hasWholeWindowPlaylists else { return [] }
        let names = self.tracks.flatMap { track in
            let names = Self.wholeWindowNames(of: track.names.track)
            return track.hasIFrames ? [names.playlist, names.iFramePlaylist] : [names.playlist]
        }
        let subtitles = self.subtitles.map { Self.wholeWindowNames(of: $0.name).playlist }
        return names + subtitles + [self.wholeWindowMultivariantName]
    }

    /// For each track, when the oldest listed segment of the archive starts, in nanoseconds since the Unix epoch; `nil` if
    /// the archive does not have this segment of the track.
    var wholeWindow: [(track: Int, start: Int64?)] {
        self.tracks.indices.map { index in
            guard let archive = self.archive,
                let place = archive.tracks[index].rows.index(of: archive.head)
            else { return (index, nil) }
            let start = archive.tracks[index].rows[place].start
            let timescale = Int64(archive.tracks[index].timescale)
            return (index, self.origin &+ TimeMath.rescale(start, from: timescale, to: TimeMath.nanoseconds))
        }
    }

    /// The listed segments of a track before those of its live playlist, from a media sequence number on.
    func archived(ofTrack index: Int, from number: Int64 = 0) -> [Segment] {
        self.archive?.segments(ofTrack: index, from: number, origin: self.origin, keys: self.tracks[index].keys) ?? []
    }

    /// Initialization segments of a track that only segments of the archive need.
    func archived(mapsOf track: TrackPublication) -> [InitializationSegment] {
        guard let archive = self.archive,
            let index = archive.tracks.firstIndex(where: { $0.names == track.names })
        else { return [] }
        let live = track.maps
        return archive.maps(ofTrack: index).filter { !live.contains($0) }
    }

    /// The texts of the media playlists of the whole window: audio, video, I-frame playlists, subtitles. O(*n*) in the number of
    /// segments.
    var wholeWindowPlaylists: [(name: String, text: String)] {
        guard self.settings.hasWholeWindowPlaylists, let archive = self.archive else { return [] }
        let order =
            self.tracks.indices.filter { self.tracks[$0].kind == .audio }
            + self.tracks.indices.filter { self.tracks[$0].kind == .video }
        var lists: [(name: String, text: String)] = []
        var iFrames: [(name: String, text: String)] = []
        var subtitles: [(name: String, text: String)] = []
        for index in order {
            let track = self.tracks[index]
            let names = Self.wholeWindowNames(of: track.names.track)
            let earlier = self.archived(ofTrack: index)
            let pace = HLSOutputSettings.archivePace
            let playlist = MediaPlaylist(
                earlier: earlier, track.window, targetDuration: pace, dateRanges: archive.ranges)
            lists.append((names.playlist, playlist.rendered()))
            if index == self.subtitleReference {
                subtitles = self.subtitles.map { rendition in
                    (
                        Self.wholeWindowNames(of: rendition.name).playlist,
                        rendition.playlist(like: playlist, of: track.names.track).rendered()
                    )
                }
            }
            guard track.hasIFrames else { continue }
            iFrames.append(
                (
                    names.iFramePlaylist,
                    MediaPlaylist(earlier: earlier, track.window, targetDuration: pace, isIFramesOnly: true).rendered()
                ))
        }
        return lists + iFrames + subtitles
    }

    /// The multivariant playlist of the playlists of the whole window.
    var wholeWindowMultivariant: MultivariantPlaylist {
        // The bit rates cover all segments so far: older segments may have higher rates than those that are listed live.
        self.multivariantOfAll.renamed { uri in
            let marker = uri.hasSuffix(TrackNames.iFramesEnd) ? TrackNames.iFramesEnd : TrackNames.playlistEnd
            let names = Self.wholeWindowNames(of: String(uri.dropLast(marker.utf8.count)))
            return marker == TrackNames.iFramesEnd ? names.iFramePlaylist : names.playlist
        }
    }
}
