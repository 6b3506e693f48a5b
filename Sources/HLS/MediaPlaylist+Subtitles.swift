extension MediaPlaylist {
    /// Makes the playlist of a subtitle rendition: it lists one segment for each complete segment of another playlist,
    /// with the same number, duration, date and discontinuity. It has no parts, so a cue can be loaded once its segment
    /// is complete.
    ///
    /// - Parameters:
    ///   - playlist: A playlist of segments, with or without a live edge.
    ///   - first: Number of the rendition's first segment: an earlier one was listed before the room had the rendition.
    ///   - segment: Returns the URI and the encryption key of a segment, and whether it is lost; the argument is the segment
    ///     of `playlist`.
    package init(
        subtitlesLike playlist: MediaPlaylist, from first: Int64,
        segment: (Segment) -> (uri: String, key: SegmentKey?, isLost: Bool)
    ) {
        let earlier = playlist.segments.prefix { $0.mediaSequence < first }
        self.targetDuration = playlist.targetDuration
        self.mediaSequence = max(playlist.mediaSequence, first)
        self.discontinuitySequence =
            playlist.discontinuitySequence &+ Int64(earlier.count(where: \.discontinuity))
        self.isEvent = playlist.isEvent
        self.isEnded = playlist.isEnded
        self.segments = playlist.segments.dropFirst(earlier.count).map { other in
            let (uri, key, isLost) = segment(other)
            return other.subtitles(uri: uri, key: key, isLost: isLost)
        }
        self.edge = playlist.edge.map { LiveEdge(control: $0.control, open: nil, hint: nil) }
        self.dateRanges = playlist.dateRanges
        self.isVOD = playlist.isVOD
        self.hasMaps = false
        self.isSubtitles = true
    }
}

extension Segment {
    /// The segment of a subtitle rendition that is played with this one.
    fileprivate func subtitles(uri: String, key: SegmentKey?, isLost: Bool) -> Segment {
        Segment(
            mediaSequence: self.mediaSequence, uri: uri, start: self.start, duration: self.duration,
            programDate: self.programDate, map: self.map, discontinuity: self.discontinuity, key: key,
            gap: self.gap || isLost, byteCount: 0, publishedAt: self.publishedAt)
    }
}
