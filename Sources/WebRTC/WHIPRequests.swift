import MediaTypes

/// Decides on the requests to a WHIP endpoint and its sessions, and makes the replies.
///
/// | request | result |
/// |---|---|
/// | `POST` to the endpoint | 401 without a key, 415 for another type, else ``WHIPDecision/publish(key:isKeyInHeader:offer:)`` |
/// | `DELETE` of a session | ``WHIPDecision/delete(id:)``; 401 or 403 without the session's key |
/// | `PATCH` of a session | 204 for candidates, ``WHIPDecision/restart(id:remote:)``, or 401, 403, 428, 412, 415, 413, 400 |
/// | `GET`, `HEAD` | 204 |
/// | `GET`, `HEAD`, `DELETE`, `PATCH` of a session that has ended | 404 |
/// | other paths below `/whip/` | 404 |
/// | `OPTIONS` | 204 with `Accept-Post` or `Accept-Patch`, and CORS; it needs no key |
/// | other methods | 405 |
///
/// Pure: sessions are looked up by a function, and the caller checks the key of a POST.
///
/// Spec: RFC 9725 §4.
package struct WHIPRequests: Sendable {
    package static let offerType = "application/sdp"

    package let settings: WHIPSettings

    package init(settings: WHIPSettings) { self.settings = settings }

    /// - Parameter session: The state of a session by its id; nil if there is none.
    package func decision(
        on request: WHIPRequest, session: (_ id: String) -> WHIPSessionState?
    ) -> WHIPDecision {
        let route = WHIPRoute(path: request.path, query: request.query, app: self.settings.app)
        switch route {
        case .other: return .other
        case .unknown: return self.refusal(request.method == "OPTIONS" ? nil : .noSuchEndpoint, request, route)
        case .endpoint(let key):
            switch request.method {
            case "POST": return self.post(request, pathKey: key)
            case "GET", "HEAD": return .reply(self.with(origin: request.origin, WHIPReply(204)))
            case "OPTIONS": return self.refusal(nil, request, route)
            default: return self.refusal(.methodNotAllowed(allowed: route.methods), request, route)
            }
        case .session(let id):
            switch request.method {
            case "OPTIONS": return self.refusal(nil, request, route)
            case "DELETE", "PATCH", "GET", "HEAD": break
            default: return self.refusal(.methodNotAllowed(allowed: route.methods), request, route)
            }
            guard let state = session(id) else { return self.refusal(.noSuchSession, request, route) }
            if let refusal = Self.refusal(of: request, state) { return self.refusal(refusal, request, route) }
            switch request.method {
            case "DELETE": return .delete(id: id)
            case "PATCH": return self.patch(request, id, state, route)
            default: return .reply(self.with(origin: request.origin, WHIPReply(204)))
            }
        }
    }

    // MARK: Requests

    private func post(_ request: WHIPRequest, pathKey: String?) -> WHIPDecision {
        let route = WHIPRoute.endpoint(key: nil)
        let header = WHIPAuthorization.key(request.authorization)
        let fromPath = pathKey.flatMap { $0.utf8.count <= WHIPAuthorization.longest ? $0 : nil }
        guard let key = header ?? fromPath else { return self.refusal(.keyMissing, request, route) }
        guard Self.mediaType(request.contentType) == Self.offerType else {
            return self.refusal(.unsupportedType(expected: Self.offerType), request, route)
        }
        return .publish(key: key, isKeyInHeader: header != nil, offer: request.body)
    }

    /// Requests for a session need the key again, if it was in a field. A key in the path is not repeated: the client has
    /// only the session's URL, which nobody else can guess.
    private static func refusal(of request: WHIPRequest, _ state: WHIPSessionState) -> WHIPError? {
        guard let key = state.key, request.method == "DELETE" || request.method == "PATCH" else { return nil }
        guard let offered = WHIPAuthorization.key(request.authorization) else { return .keyMissing }
        return ConstantTime.isEqual(Array(key.utf8), Array(offered.utf8)) ? nil : .sessionKeyRefused
    }

    private func patch(
        _ request: WHIPRequest, _ id: String, _ state: WHIPSessionState, _ route: WHIPRoute
    ) -> WHIPDecision {
        guard Self.mediaType(request.contentType) == SDPFragment.mediaType else {
            return self.refusal(.unsupportedType(expected: SDPFragment.mediaType), request, route)
        }
        guard let condition = request.ifMatch else { return self.refusal(.preconditionRequired, request, route) }
        let tags = Self.tags(condition)
        // The examples of RFC 9725 have the asterisk in quotation marks.
        let isAny = tags.contains("*") || tags.contains("\"*\"")
        guard isAny || tags.contains(state.etag[...]) else { return self.refusal(.preconditionFailed, request, route) }
        let fragment: SDPFragment
        do throws(WHIPError) { fragment = try SDPFragment(parsing: request.body) } catch {
            return self.refusal(error, request, route)
        }
        guard let remote = fragment.credentials, remote.ufrag != state.remoteUfrag else {
            return .reply(self.with(origin: request.origin, WHIPReply(204)))
        }
        return .restart(id: id, remote: remote)
    }

    /// Entity tags of `If-Match`, as sent. Weak ones never match (RFC 9110 §13.1.1).
    private static func tags(_ field: String) -> [Substring] {
        field.split(separator: ",").prefix(16).map { item in
            var item = item
            while item.first == " " { item.removeFirst() }
            while item.last == " " { item.removeLast() }
            return item
        }
    }

    /// The media type without parameters, in lower case.
    private static func mediaType(_ field: String?) -> String? {
        field?.split(separator: ";").first?.split(separator: " ").first?.lowercased()
    }

    // MARK: Replies

    /// 201: the session exists.
    ///
    /// - Parameters:
    ///   - path: From ``WHIPRoute/session(random:)``.
    ///   - etag: Strong entity tag of the ICE session, with quotation marks.
    package func created(path: String, etag: String, answer: String, origin: String?) -> WHIPReply {
        let fields = [
            WHIPReply.Field("Content-Type", Self.offerType), .init("Location", path), .init("ETag", etag),
            .init("Accept-Patch", SDPFragment.mediaType), .init("Cache-Control", "no-store"),
        ]
        return self.with(origin: origin, WHIPReply(201, fields: fields + self.settings.links, body: answer))
    }

    /// 200: OBS accepts no other status. FFmpeg 9 reports an error for every reply to DELETE, since it takes the status line for
    /// the size of a chunk.
    package func deleted(origin: String?) -> WHIPReply {
        self.with(
            origin: origin, WHIPReply(200, fields: [.init("Content-Type", "text/plain")], body: "session ended\n"))
    }

    /// 200: new credentials of an ICE restart.
    ///
    /// - Parameters:
    ///   - etag: The new entity tag.
    ///   - fragment: From ``SDPFragment/answer(settings:session:)``.
    package func restarted(etag: String, fragment: String, origin: String?) -> WHIPReply {
        let fields = [
            WHIPReply.Field("Content-Type", SDPFragment.mediaType), .init("ETag", etag),
            .init("Cache-Control", "no-store"),
        ]
        return self.with(origin: origin, WHIPReply(200, fields: fields, body: fragment))
    }

    package func refused(_ error: WHIPError, origin: String?) -> WHIPReply { self.with(origin: origin, .error(error)) }

    /// - Parameter error: nil for `OPTIONS`.
    private func refusal(_ error: WHIPError?, _ request: WHIPRequest, _ route: WHIPRoute) -> WHIPDecision {
        guard let error else { return .reply(self.options(request, route)) }
        return .reply(self.with(origin: request.origin, .error(error, allowed: route.methods)))
    }
}
