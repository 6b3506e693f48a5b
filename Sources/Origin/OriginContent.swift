package import HLS
package import HTTPListener

/// A viewer's request.
package struct OriginRequest: Sendable {
    /// Relative and decoded, such as `v720/s00001.m4s`; never with an empty, `.` or `..` component, a backslash or a control
    /// character.
    package var path: String
    package var directives: ReloadDirectives
    /// Whether the client accepts `gzip`.
    package var acceptsGzip: Bool
    /// Query to append to every URI in a playlist: percent-encoded, without `?`; empty for none.
    package var query: String
    /// The client that waits for the answer.
    package var client: ClientPresence

    package init(
        path: String, directives: ReloadDirectives = ReloadDirectives(), acceptsGzip: Bool = false,
        query: String = "", client: ClientPresence = ClientPresence()
    ) {
        self.path = path
        self.directives = directives
        self.acceptsGzip = acceptsGzip
        self.query = query
        self.client = client
    }
}

/// The answer to a request.
package enum OriginAnswer: Sendable {
    case object(OriginObject)
    /// 404.
    case missing
    /// 400 with this reason.
    case refused(String)
    /// 503 with this reason: a wait timed out, or too many requests wait already.
    case late(String)
}

/// The content of the origin: the objects that a packager has published, by name. Called from many threads.
package protocol OriginContent: Sendable {
    /// Calls `answer` once: immediately, or when a future object is published, or after a timeout of the
    /// implementation; on the event loop of the request's client. Must not block. A client that has disconnected may
    /// get no answer.
    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void)

    /// Whether the room has ended, so that nothing more will be published.
    var ended: Bool { get }

    /// Answers requests that have waited for too long. Called about twice a second.
    func expire()

    /// Answers every waiting request, because the listener stops.
    func close()
}

extension OriginContent {
    package func expire() {}
    package func close() {}
}
