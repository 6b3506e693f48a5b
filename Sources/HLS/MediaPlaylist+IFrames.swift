extension MediaPlaylist {
    /// Makes the I-frame playlist that belongs to a media playlist. Its entries are the key frames of the segments that the
    /// media playlist lists; a segment without available key frames has a gap. Players show these frames while a viewer
    /// seeks.
    ///
    /// The I-frame playlist has the same target duration, type and discontinuities as the media playlist, but its own
    /// sequence numbers. Date ranges are only in the media playlists.
    ///
    /// Spec: rfc8216bis §4.4.3.6; Apple's authoring specification 6.
    ///
    /// - Parameter control: `EXT-X-SERVER-CONTROL` values of a low-latency stream, which every playlist of the stream
    ///   must declare (§6.2.4); `nil` for a stream without parts.
    package init(iFramesOf window: PlaylistWindow, control: ServerControl? = nil) {
        let first = window.iFrameSequence ?? 0
        var entries: [Segment] = []
        for segment in window.segments {
            entries += segment.iFrames(numberedFrom: first &+ Int64(entries.count))
        }
        self.targetDuration = window.targetDuration
        self.mediaSequence = first
        self.discontinuitySequence = window.discontinuitySequence
        self.isEvent = window.style == .event
        self.isEnded = window.isEnded
        self.segments = entries
        self.edge = control.map { LiveEdge(control: $0, open: nil, hint: nil) }
        self.dateRanges = DateRangeList()
        self.isIFramesOnly = true
    }
}
