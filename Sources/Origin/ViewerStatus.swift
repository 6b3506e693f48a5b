import HLS

/// What the viewers' page says about a room in words: the reply to `GET /status.json`.
///
/// The reply always has status 200, because browsers log every error status, and the page asks again and again.
package struct ViewerStatus: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
        /// There is nothing to play, and no publisher is connected.
        case waiting
        /// A publisher is connected or the program has begun, and the playlists do not exist yet.
        case starting
        /// Viewers can play the program.
        case live
        /// No source on air sends media, and a publisher is connected or expected back. Also while a worker fails, or is
        /// replaced by another one.
        case interrupted
        /// No source on air sends media, and no publisher is connected or expected back.
        case left
        /// The room has ended.
        case ended
        /// The request's URL is not signed, or not valid; only if URLs are signed.
        case refused
    }

    package var state: State
    /// Whether there are playlists, so that a page can play.
    package var isPlayable: Bool
    /// Program date-time of the start of the program, from which the times of thumbnails count, in nanoseconds since
    /// the Unix epoch; `nil` before this worker's program has started.
    package var programStart: Int64?

    package init(_ state: State, isPlayable: Bool, programStart: Int64? = nil) {
        self.state = state
        self.isPlayable = isPlayable
        self.programStart = programStart
    }

    /// The body of the reply.
    package var json: String {
        let start = self.programStart.map { "\"\(ProgramDate.format($0))\"" } ?? "null"
        return #"{"state":"\#(self.state.rawValue)","playable":\#(self.isPlayable),"programStart":\#(start)}"#
    }
}
