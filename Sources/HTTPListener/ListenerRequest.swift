package import HTTPTypes

/// One HTTP request, read whole.
package struct ListenerRequest: Sendable {
    package enum Body: Sendable, Hashable {
        /// At most ``HTTPListenerLimits/bodyBytes``; empty when the request had none.
        case bytes([UInt8])
        /// More than the limit. The connection closes after the reply, since the rest was not read.
        case tooLarge
    }

    /// Method, target and header fields.
    package let head: HTTPRequest
    package let body: Body
    /// Path and query of the target; `nil` if it cannot be read as one.
    package let target: RequestTarget?
    /// Who waits for the reply.
    package let client: ClientPresence

    package init(head: HTTPRequest, body: Body = .bytes([]), client: ClientPresence = ClientPresence()) {
        self.client = client
        self.head = head
        self.body = body
        self.target = RequestTarget(parsing: head.path ?? "")
    }
}
