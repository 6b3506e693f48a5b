/// Requests of web pages of other origins.
///
/// Spec: Fetch §3.2 (CORS protocol), RFC 9725 §4.2.
extension WHIPRequests {
    /// The reply to `OPTIONS`, with or without preflight.
    func options(_ request: WHIPRequest, _ route: WHIPRoute) -> WHIPReply {
        var reply = WHIPReply(204, fields: [.init("Allow", route.methods)])
        switch route {
        case .session: reply.fields.append(.init("Accept-Patch", SDPFragment.mediaType))
        case .endpoint: reply.fields.append(.init("Accept-Post", Self.offerType))
        case .unknown, .other: break
        }
        if request.requestedMethod != nil, self.allowedOrigin(request.origin) != nil {
            reply.fields += [
                .init("Access-Control-Allow-Methods", "POST, PATCH, DELETE, OPTIONS"),
                .init("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match"),
                .init("Access-Control-Max-Age", "86400"),
            ]
        }
        return self.with(origin: request.origin, reply)
    }

    /// Adds the fields that let a page of the origin read the reply.
    func with(origin: String?, _ reply: WHIPReply) -> WHIPReply {
        var reply = reply
        if let allowed = self.allowedOrigin(origin) {
            reply.fields += [
                .init("Access-Control-Allow-Origin", allowed),
                .init("Access-Control-Expose-Headers", "Location, ETag, Link"),
            ]
        }
        // A cache must not give the reply for one origin to another.
        if !self.settings.allowedOrigins.contains("*") { reply.fields.append(.init("Vary", "Origin")) }
        return reply
    }

    /// The value of `Access-Control-Allow-Origin`; nil without an `Origin`, or if it is not allowed.
    private func allowedOrigin(_ origin: String?) -> String? {
        guard let origin else { return nil }
        if self.settings.allowedOrigins.contains("*") { return "*" }
        return self.settings.allowedOrigins.contains(origin) ? origin : nil
    }
}
