package import HTTPListener

/// Settings of the operators' listener, and the content that it serves besides the API.
package struct ControlListenerOptions: Sendable {
    /// Serves playlists and segments to the operators' page under `/media/`, with the same names as on the viewers'
    /// listener.
    package struct Media: Sendable {
        let answer: @Sendable (ListenerRequest, @escaping @Sendable (ListenerReply) -> Void) -> Void
        /// Whether read access suffices to watch the room. False if viewers need signed URLs: then command access is
        /// needed.
        let isReading: Bool

        package init(
            isReading: Bool,
            answer: @escaping @Sendable (ListenerRequest, @escaping @Sendable (ListenerReply) -> Void) -> Void
        ) {
            self.isReading = isReading
            self.answer = answer
        }
    }

    /// Source text of the player scripts that the operators' page uses.
    package var player = ""
    /// Serves media to the operators' page; nil if the room has no HLS output.
    package var media: Media?
    /// Web origin of the decryption keys, such as `https://keys.example`; nil if they have the same origin as the
    /// media.
    package var keyOrigin: String?
    /// Whether reading requests need no token.
    package var opensReads = false
    /// A second token, which permits only reading requests; nil if there is none.
    package var readToken: String?
    /// Rate limit in requests per second. Clients with the command token, clients with the read token, and all others
    /// each have their own limit of this size. Requests over the limit get 429 with `Retry-After`.
    package var requestsPerSecond = 4_000

    /// The recent log lines of the process; nil if they are not kept.
    package var logs: LogRing?
    /// Names and versions of the worker's components, for `GET /version`.
    package var versions: [(name: String, version: String)] = []
    /// Web origins whose pages may use the API besides the operators' page; see ``ControlOrigins``.
    package var allowOrigins: [String] = []

    package init() {}
}
