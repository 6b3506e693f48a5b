package import HTTPListener

/// What the operators' listener serves besides the API.
package struct ControlDoors: Sendable {
    /// What viewers can play, for the operators' page: under `/media/`, with the names it has on the viewers' listener.
    package struct Media: Sendable {
        let answer: @Sendable (ListenerRequest, @escaping @Sendable (ListenerReply) -> Void) -> Void
        /// Whoever may read the room may watch it. False where viewers need signed URLs: then only operators.
        let isReading: Bool

        package init(
            isReading: Bool,
            answer: @escaping @Sendable (ListenerRequest, @escaping @Sendable (ListenerReply) -> Void) -> Void
        ) {
            self.isReading = isReading
            self.answer = answer
        }
    }

    /// Scripts of the player that the page uses, as text.
    package var player = ""
    /// `nil`: the room has nothing to play.
    package var media: Media?
    /// Where the keys of what is played come from, such as `https://keys.example`; `nil`: from where it comes from.
    package var keyOrigin: String?
    /// What only reads needs no token.
    package var opensReads = false
    /// A second token, which is enough for what only reads.
    package var readToken: String?
    /// Requests a second that are answered to those with the command token, to those with the read token, and to all others: each
    /// as many. More are told to come later.
    package var requestsPerSecond = 4_000

    /// The process's log lines; `nil`: it keeps none.
    package var logs: LogBook?
    /// What `GET /version` says: names and versions.
    package var versions: [(name: String, version: String)] = []
    /// Pages of other origins that may use the API; see ``ControlOrigins``.
    package var allowOrigins: [String] = []

    package init() {}
}
