import HLS
import MediaKernels

extension LiveEdgeTrack {
    /// The subtitle renditions whose segments follow those of a track.
    struct Subtitles: Sendable {
        let renditions: [SubtitlePublication]
        let content: SubtitleRenditions
        /// Version of the playlists that was last taken.
        fileprivate var shown: SubtitleVersion?

        init(renditions: [SubtitlePublication], content: SubtitleRenditions) {
            self.renditions = renditions
            self.content = content
        }
    }

    /// The values that change with every new version of the subtitle renditions' playlists.
    fileprivate struct SubtitleVersion: Sendable, Hashable {
        let first: Int64
        let next: Int64
        let isEnded: Bool
        let dateRanges: DateRangeList
    }

    /// The names of the subtitle segments that belong to segments of this track.
    func subtitleNames(like names: [String]) -> [String] {
        guard let subtitles = self.subtitles else { return [] }
        return names.flatMap { name in
            subtitles.renditions.compactMap { $0.segmentName(like: name, of: self.track.names.track) }
        }
    }

    /// Makes the subtitle segments that belong to a new segment of this track.
    func addSubtitles(like segment: Segment, _ update: inout LiveEdgeUpdate) {
        guard let subtitles = self.subtitles else { return }
        let number = segment.mediaSequence
        for rendition in subtitles.renditions where rendition.has(number) {
            guard let name = rendition.segmentName(like: segment.uri, of: self.track.names.track) else { continue }
            let bytes = subtitles.content.bytes(
                rendition.name, number, start: segment.start, duration: segment.duration)
            update.added.append(
                LiveEdgeUpdate.Object(
                    name: name, kind: self.kind, content: .whole(rendition.sealed(bytes, of: number)),
                    contentType: SubtitleSegment.contentType))
        }
    }

    /// Returns the playlists of the subtitle renditions and marks them as taken; empty if they have not changed since the
    /// last call. They list only complete segments.
    ///
    /// - Parameter playlist: This track's playlist.
    mutating func takeSubtitles(like playlist: MediaPlaylist) -> [(name: String, playlist: MediaPlaylist)] {
        guard let subtitles = self.subtitles else { return [] }
        let window = self.track.window
        let shown = SubtitleVersion(
            first: window.mediaSequence, next: window.nextMediaSequence, isEnded: window.isEnded,
            dateRanges: playlist.dateRanges)
        guard shown != subtitles.shown else { return [] }
        self.subtitles?.shown = shown
        return subtitles.renditions.map {
            (name: $0.playlistName, playlist: $0.playlist(like: playlist, of: self.track.names.track))
        }
    }
}
