import HTTPListener
import HTTPTypes

/// The other web origins whose pages may use the API from a browser (CORS).
///
/// Spec: Fetch §3.3 (CORS protocol).
package struct ControlOrigins: Sendable {
    private let origins: Set<String>

    /// - Parameter origins: Origins in the form that browsers send, such as `https://console.example`. There is no
    ///   wildcard.
    package init(_ origins: [String] = []) { self.origins = Set(origins.map { $0.lowercased() }) }

    /// Whether the page that sent the request has one of the allowed origins.
    func admits(_ head: HTTPRequest) -> Bool {
        head.headerFields[.origin].map { self.origins.contains($0.lowercased()) } ?? false
    }

    /// Adds the CORS header fields that let the page read the reply, if its origin is allowed.
    func opening(_ reply: ListenerReply, to head: HTTPRequest) -> ListenerReply {
        guard !self.origins.isEmpty else { return reply }
        var reply = reply
        // Media replies may already have a Vary field.
        reply.fields[.vary] = reply.fields[.vary].map { "\($0), Origin" } ?? "Origin"
        guard self.admits(head), let origin = head.headerFields[.origin] else { return reply }
        reply.fields[.accessControlAllowOrigin] = origin
        reply.fields[.accessControlExposeHeaders] =
            "Allow, ETag, Idempotent-Replayed, Retry-After, Tandem-Access, X-Request-Id, X-Tandem-Age-Ms"
        return reply
    }

    /// The reply to an OPTIONS request: the methods of the route, and for an allowed origin the header fields that its
    /// page may send. The reply reveals nothing about the room and needs no token, because browsers send none with
    /// preflight requests.
    func preflight(_ head: HTTPRequest, _ route: ControlRoute) -> ListenerReply {
        let methods = (route.methods + [.options]).map(\.rawValue).joined(separator: ", ")
        var reply = ListenerReply(.noContent, fields: [.allow: methods])
        guard self.admits(head) else { return reply }
        reply.fields[.accessControlAllowMethods] = methods
        reply.fields[.accessControlAllowHeaders] =
            "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id"
        reply.fields[.accessControlMaxAge] = "600"
        return reply
    }
}
