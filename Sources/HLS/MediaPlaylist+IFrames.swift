extension MediaPlaylist {
    /// The I-frame playlist beside a media playlist: each of its entries is a key frame of a segment that is listed there,
    /// for players that show pictures while somebody seeks.
    ///
    /// It has the same target duration, type and discontinuities, and numbers of its own. Date ranges are in the media
    /// playlists alone.
    ///
    /// Spec: rfc8216bis §4.4.3.6; Apple's authoring specification 6.
    ///
    /// - Parameter control: Of a low-latency stream: every playlist of it declares the same (§6.2.4).
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
