import HLS

extension EdgeTrack {
    /// Tells one text of an I-frame playlist from the next.
    struct ShownIFrames: Sendable, Hashable {
        let first: Int64
        let next: Int64
        let isEnded: Bool
    }

    /// The I-frame playlist; `nil` where it says what it said when it was taken last, or there is none. It goes on with
    /// whole segments alone (rfc8216bis appendix B.1: such lists have no parts).
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
