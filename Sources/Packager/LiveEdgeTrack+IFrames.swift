import HLS

extension LiveEdgeTrack {
    /// Identifies a version of the I-frame playlist's text.
    struct ShownIFrames: Sendable, Hashable {
        let first: Int64
        let next: Int64
        let isEnded: Bool
    }

    /// The I-frame playlist; `nil` if it has not changed since it was last taken, or if the track has none. It only
    /// contains complete segments (rfc8216bis appendix B.1: such playlists have no parts).
    mutating func takeIFrames(_ control: ServerControl) -> (name: String, playlist: MediaPlaylist)? {
        guard self.track.hasIFrames else { return nil }
        let window = self.track.window
        let shown = ShownIFrames(
            first: window.mediaSequence, next: window.nextMediaSequence, isEnded: window.isEnded)
        guard shown != self.shownIFrames else { return nil }
        self.shownIFrames = shown
        return (self.track.names.iFramePlaylist, MediaPlaylist(iFramesOf: window, control: control))
    }
}
