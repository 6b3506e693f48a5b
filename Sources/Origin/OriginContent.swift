package import HLS
package import HTTPListener

/// A viewer's request for an object.
package struct OriginRequest: Sendable {
    /// Relative, decoded path of the object, such as `v720/s00001.m4s`; never with an empty, `.` or `..` component, a
    /// backslash or a control character.
    package var path: String
    package var directives: ReloadDirectives
    /// Whether the client accepts gzip compression.
    package var acceptsGzip: Bool
    /// Query to append to every URI of this server in a playlist: percent-encoded, without `?`; empty for none.
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

/// The answer to a viewer's request.
package enum OriginAnswer: Sendable {
    case object(OriginObject)
    /// Status 404: the object does not exist.
    case missing
    /// Status 400 with this reason: the request is invalid.
    case refused(String)
    /// Status 503 with this reason, for example because a wait timed out, too many requests wait, or the listener stops.
    case late(String)
}

/// The content of the playback listener: the objects that a packager has published, by name. The methods are called
/// from many threads.
package protocol OriginContent: Sendable {
    /// Answers a request by calling `answer` once: before this returns, or later on the event loop of the request's
    /// client, when the requested object is published or after a timeout of the implementation. Must not block. If the
    /// client has disconnected, `answer` may not be called.
    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void)

    /// Whether the room has ended, so that nothing more will be published.
    var ended: Bool { get }

    /// Answers requests that have waited for too long, usually with status 503. Called about twice a second.
    func expire()

    /// Answers every waiting request, because the listener stops.
    func close()
}

extension OriginContent {
    package func expire() {}
    package func close() {}
}
