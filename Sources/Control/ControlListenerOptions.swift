package import HTTPListener

/// Settings of the operators' listener, and what it serves in addition to the API.
package struct ControlListenerOptions: Sendable {
    /// Playlists and segments for the operators' page: under `/media/`, with the same names as on the viewers'
    /// listener.
    package struct Media: Sendable {
        let answer: @Sendable (ListenerRequest, @escaping @Sendable (ListenerReply) -> Void) -> Void
        /// Whether read access to the room is enough to watch it. False if viewers need signed URLs; then command
        /// access is needed.
        let isReading: Bool

        package init(
            isReading: Bool,
            answer: @escaping @Sendable (ListenerRequest, @escaping @Sendable (ListenerReply) -> Void) -> Void
        ) {
            self.isReading = isReading
            self.answer = answer
        }
    }

    /// Source text of the player scripts that the page uses.
    package var player = ""
    /// `nil`: the room has no HLS output.
    package var media: Media?
    /// Origin of the decryption keys, such as `https://keys.example`; `nil`: the same as that of the media.
    package var keyOrigin: String?
    /// Reading requests need no token.
    package var opensReads = false
    /// A second token, which permits reading requests only.
    package var readToken: String?
    /// Rate limit in requests per second; separate limits of this size apply to clients with the command token, with
    /// the read token, and to all others. Further requests get 429 with `Retry-After`.
    package var requestsPerSecond = 4_000

    /// The process's log lines; `nil`: none are kept.
    package var logs: LogRing?
    /// Names and versions for `GET /version`.
    package var versions: [(name: String, version: String)] = []
    /// Other web origins that may use the API; see ``ControlOrigins``.
    package var allowOrigins: [String] = []

    package init() {}
}
