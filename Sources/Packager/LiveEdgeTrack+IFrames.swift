import HLS

extension LiveEdgeTrack {
    /// The values that change with every new version of the I-frame playlist.
    struct ShownIFrames: Sendable, Hashable {
        let first: Int64
        let next: Int64
        let isEnded: Bool
    }

    /// Returns the I-frame playlist and marks it as taken; `nil` if it has not changed since the last call or the track
    /// has no I-frame playlist. It lists only complete segments (rfc8216bis appendix B.1: I-frame playlists have no
    /// parts).
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
