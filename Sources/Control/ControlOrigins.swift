import HTTPListener
import HTTPTypes

/// Pages of other origins that may use the API from a browser.
///
/// Spec: Fetch §3.3 (CORS protocol).
package struct ControlOrigins: Sendable {
    private let origins: Set<String>

    /// - Parameter origins: As browsers send them, such as `https://console.example`. There is no word for all.
    package init(_ origins: [String] = []) { self.origins = Set(origins.map { $0.lowercased() }) }

    /// Whether the request's page is one of them.
    func admits(_ head: HTTPRequest) -> Bool {
        head.headerFields[.origin].map { self.origins.contains($0.lowercased()) } ?? false
    }

    /// The reply, as the request's page may read it.
    func opening(_ reply: ListenerReply, to head: HTTPRequest) -> ListenerReply {
        guard !self.origins.isEmpty else { return reply }
        var reply = reply
        // What is played may differ by more.
        reply.fields[.vary] = reply.fields[.vary].map { "\($0), Origin" } ?? "Origin"
        guard self.admits(head), let origin = head.headerFields[.origin] else { return reply }
        reply.fields[.accessControlAllowOrigin] = origin
        reply.fields[.accessControlExposeHeaders] =
            "Allow, ETag, Idempotent-Replayed, Retry-After, Tandem-Access, X-Request-Id"
        return reply
    }

    /// The answer to OPTIONS: which methods there are, and to a page that is admitted, which fields it may send. It says nothing
    /// of the room, and needs no token: browsers send none with it.
    func preflight(_ head: HTTPRequest, _ route: ControlRoute) -> ListenerReply {
        let methods = (route.methods + [.options]).map(\.rawValue).joined(separator: ", ")
        var reply = ListenerReply(.noContent, fields: [.allow: methods])
        guard self.admits(head) else { return reply }
        reply.fields[.accessControlAllowMethods] = methods
        reply.fields[.accessControlAllowHeaders] =
            "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Request-Id"
        reply.fields[.accessControlMaxAge] = "600"
        return reply
    }
}
