package import WebRTC

/// What to do with a WHEP request.
package enum WHEPDecision: Sendable, Hashable {
    /// Send this reply.
    case reply(WHIPReply)
    /// Answer the offer with a session, and reply with ``WHEPRequests/created(path:etag:answer:)``.
    case play(rendition: String?, offer: [UInt8])
    /// End the session, then reply with ``WHEPRequests/deleted``.
    case delete(id: String)
    /// Begin an ICE restart, then reply with ``WHEPRequests/restarted(etag:fragment:)``.
    case restart(id: String, remote: ICECredentials)
}

/// Decides on the requests of viewers and makes the replies. The playback listener adds the CORS fields that depend on the
/// origin.
///
/// | request | result |
/// |---|---|
/// | `POST` to an endpoint | 415 for another type, else ``WHEPDecision/play(rendition:offer:)`` |
/// | `DELETE` of a session | ``WHEPDecision/delete(id:)`` |
/// | `PATCH` of a session | 204 for candidates, ``WHEPDecision/restart(id:remote:)``, or 428, 412, 415, 413, 400 |
/// | `GET`, `HEAD` of a session | 204 |
/// | `GET`, `HEAD`, `DELETE`, `PATCH` of a session that has ended | 404 |
/// | `GET`, `HEAD` of an endpoint | 200 with the type of an offer |
/// | `OPTIONS` | 204 with `Accept-Post` or `Accept-Patch` |
/// | other methods | 405 |
///
/// Pure: sessions are looked up by a function.
///
/// Spec: draft-ietf-wish-whep §4, RFC 9725 §4.3.
package enum WHEPRequests {
    package static let offerType = "application/sdp"
    /// Fields that a page of another origin must be able to read.
    package static let exposedHeaders = "Location, ETag, Link, Retry-After"

    /// What a decision depends on in a session: its entity tag with the quotation marks, and the viewer's ICE user name
    /// fragment.
    package typealias State = (etag: String, remoteUfrag: String)

    /// - Parameter session: The state of a session by its id; nil if there is none.
    package static func decision(on request: WHIPRequest, session: (_ id: String) -> State?) -> WHEPDecision {
        let route = WHEPRoute(path: request.path)
        switch (route, request.method) {
        case (.session, "OPTIONS"), (.endpoint, "OPTIONS"), (.unknown, "OPTIONS"), (.other, "OPTIONS"):
            return .reply(Self.options(request, route))
        case (.unknown, _), (.other, _): return .reply(.error(.noSuchEndpoint))
        case (.endpoint(let rendition), "POST"):
            guard Self.mediaType(request.contentType) == Self.offerType else {
                return .reply(.error(.unsupportedType(expected: Self.offerType)))
            }
            return .play(rendition: rendition, offer: request.body)
        case (.endpoint, "GET"), (.endpoint, "HEAD"):
            return .reply(
                WHIPReply(200, fields: [.init("Content-Type", Self.offerType), .init("Cache-Control", "no-store")]))
        case (.session(let id), "DELETE"), (.session(let id), "PATCH"), (.session(let id), "GET"),
            (.session(let id), "HEAD"):
            guard let state = session(id) else { return .reply(.error(.noSuchSession)) }
            switch request.method {
            case "DELETE": return .delete(id: id)
            case "PATCH": return Self.patch(request, id, state)
            default: return .reply(WHIPReply(204))
            }
        default: return .reply(.error(.methodNotAllowed(allowed: route.methods), allowed: route.methods))
        }
    }

    // MARK: Requests

    private static func patch(_ request: WHIPRequest, _ id: String, _ state: State) -> WHEPDecision {
        guard Self.mediaType(request.contentType) == SDPFragment.mediaType else {
            return .reply(.error(.unsupportedType(expected: SDPFragment.mediaType)))
        }
        guard let condition = request.ifMatch else { return .reply(.error(.preconditionRequired)) }
        let tags = condition.split(separator: ",").prefix(16).map { $0.split(separator: " ").first ?? "" }
        // The examples of RFC 9725 have the asterisk in quotation marks.
        guard tags.contains(where: { $0 == "*" || $0 == "\"*\"" || $0 == state.etag }) else {
            return .reply(.error(.preconditionFailed))
        }
        let fragment: SDPFragment
        do throws(WHIPError) { fragment = try SDPFragment(parsing: request.body) } catch {
            return .reply(.error(error))
        }
        guard let remote = fragment.credentials, remote.ufrag != state.remoteUfrag else {
            return .reply(WHIPReply(204))
        }
        return .restart(id: id, remote: remote)
    }

    /// The reply to `OPTIONS`, with or without preflight.
    private static func options(_ request: WHIPRequest, _ route: WHEPRoute) -> WHIPReply {
        var reply = WHIPReply(204, fields: [.init("Allow", route.methods)])
        switch route {
        case .session: reply.fields.append(.init("Accept-Patch", SDPFragment.mediaType))
        case .endpoint: reply.fields.append(.init("Accept-Post", Self.offerType))
        case .unknown, .other: break
        }
        if request.requestedMethod != nil {
            reply.fields += [
                .init("Access-Control-Allow-Methods", "POST, PATCH, DELETE, OPTIONS"),
                .init("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match"),
                .init("Access-Control-Max-Age", "86400"),
            ]
        }
        return reply
    }

    /// The media type without parameters, in lower case.
    private static func mediaType(_ field: String?) -> String? {
        field?.split(separator: ";").first?.split(separator: " ").first?.lowercased()
    }

    // MARK: Replies

    /// 201: the session exists.
    ///
    /// - Parameters:
    ///   - path: From ``WHEPRoute/session(random:)``.
    ///   - etag: Strong entity tag of the ICE session, with quotation marks.
    package static func created(path: String, etag: String, answer: String) -> WHIPReply {
        WHIPReply(
            201,
            fields: [
                .init("Content-Type", Self.offerType), .init("Location", path), .init("ETag", etag),
                .init("Accept-Patch", SDPFragment.mediaType), .init("Cache-Control", "no-store"),
            ], body: answer)
    }

    /// The reply to DELETE: 200 with a short text.
    package static let deleted = WHIPReply(
        200, fields: [.init("Content-Type", "text/plain")], body: "session ended\n")

    /// 200: new credentials of an ICE restart.
    package static func restarted(etag: String, fragment: String) -> WHIPReply {
        WHIPReply(
            200,
            fields: [
                .init("Content-Type", SDPFragment.mediaType), .init("ETag", etag), .init("Cache-Control", "no-store"),
            ], body: fragment)
    }
}

/// Errors of viewers' requests.
extension WHIPError {
    package static let noSuchRendition = WHIPError(
        404, "noSuchEndpoint", title: "No such endpoint",
        detail: "the room has no WebRTC output for a rendition of this name",
        fix: "POST to /whep, or to /whep/NAME with the rendition of a WebRTC output")

    /// The rendition has no key frame yet.
    package static let notLiveYet = WHIPError(
        409, "notLive", title: "Nothing is live", detail: "the room has not sent a frame yet",
        fix: "repeat the request later", retryAfter: 1)

    package static let roomEnded = WHIPError(
        404, "noSuchEndpoint", title: "No such endpoint", detail: "the room has ended",
        fix: "check whether the room is running")
}
