package import HTTPTypes

/// One HTTP request, completely read unless its body is too large.
package struct ListenerRequest: Sendable {
    package enum Body: Sendable, Hashable {
        /// The whole body, at most ``HTTPListenerLimits/bodyBytes`` long; empty if the request had no body.
        case bytes([UInt8])
        /// The body exceeds the limit. The connection, or the HTTP/2 stream, closes after the reply, because the rest was
        /// not read.
        case tooLarge
    }

    /// Method, target and header fields of the request.
    package let head: HTTPRequest
    package let body: Body
    /// Path and query of the target; `nil` if it is malformed.
    package let target: RequestTarget?
    /// Tells whether the client still waits for the reply.
    package let client: ClientPresence

    package init(head: HTTPRequest, body: Body = .bytes([]), client: ClientPresence = ClientPresence()) {
        self.client = client
        self.head = head
        self.body = body
        self.target = RequestTarget(parsing: head.path ?? "")
    }
}
