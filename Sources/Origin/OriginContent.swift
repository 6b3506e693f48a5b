package import HLS
package import HTTPListener

/// What a viewer asks for.
package struct OriginRequest: Sendable {
    /// Relative and decoded, such as `v720/s00001.m4s`; never with an empty, `.` or `..` component, a backslash or a control
    /// character.
    package var path: String
    package var directives: ReloadDirectives
    /// The client takes `gzip`.
    package var acceptsGzip: Bool
    /// Goes with every URI of a playlist: percent-encoded, without `?`; empty for none.
    package var query: String
    /// Who waits for the answer.
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

/// What becomes of a request.
package enum OriginAnswer: Sendable {
    case object(OriginObject)
    /// 404.
    case missing
    /// 400, for this reason.
    case refused(String)
    /// 503: what was waited for did not come in time, or too many wait already.
    case late(String)
}

/// What the origin serves: the objects a packager has published, by name. Called from many threads.
package protocol OriginContent: Sendable {
    /// Calls `answer` once: at once, or when what is about to be published is there, but after no longer than a time of its
    /// own, and on the event loop of the request's client. Must not block. A client that has left may get no answer.
    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void)

    /// True once the room is over and nothing more will be published.
    var ended: Bool { get }

    /// Answers requests that have waited for too long. Called about twice a second.
    func expire()

    /// Answers every request that waits: the listener stops.
    func close()
}

extension OriginContent {
    package func expire() {}
    package func close() {}
}
