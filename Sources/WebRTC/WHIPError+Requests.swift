/// Errors of requests, independent of their session descriptions.
extension WHIPError {
    /// The request has no key, or one that is too long or not visible ASCII.
    package static let keyMissing = WHIPError(
        401, "keyMissing", title: "Stream key missing", detail: "the request has no stream key, or a malformed one",
        fix: "send the stream key as Authorization: Bearer KEY, or as the last part of the path")

    /// The key is unknown or wrong, has expired or was already used, or `ingest.onPublish` refuses it.
    package static let keyRefused = WHIPError(
        401, "keyRefused", title: "Stream key refused", detail: "the stream key is not valid",
        fix: "check the stream key of the publisher")

    /// The request for a session has another key than the one that created it.
    package static let sessionKeyRefused = WHIPError(
        403, "sessionKeyRefused", title: "Stream key refused",
        detail: "the session was created with another stream key",
        fix: "send the Authorization of the POST that created the session")

    /// The client's address is not allowed, or the source of its valid key refuses all publishers at present.
    package static func forbidden(_ detail: String, fix: String) -> WHIPError {
        WHIPError(403, "forbidden", title: "Publishing not allowed", detail: detail, fix: fix)
    }

    /// Another publisher uses the key, and keeps its source.
    package static let inUse = WHIPError(
        409, "streamInUse", title: "Stream key in use", detail: "another publisher is live with this stream key",
        fix: "stop the other publisher, or set ingest.onDuplicate to takeover")

    /// The client's address sends too many requests, or the stream key was used too often.
    package static func tooManyRequests(
        _ detail: String = "this address sends too many requests", retryAfter: Int
    ) -> WHIPError {
        WHIPError(
            429, "tooManyRequests", title: "Too many requests", detail: detail, fix: "repeat the request later",
            retryAfter: retryAfter)
    }

    /// The room cannot take another session now: it is full, is ending, or its webhook gives no decision.
    package static func overloaded(_ detail: String, retryAfter: Int) -> WHIPError {
        WHIPError(
            503, "overloaded", title: "No capacity", detail: detail, fix: "repeat the request later",
            retryAfter: retryAfter)
    }

    package static let noSuchSession = WHIPError(
        404, "noSuchSession", title: "No such session", detail: "the session does not exist or has ended",
        fix: "create a session with a POST to the endpoint")

    package static let noSuchEndpoint = WHIPError(
        404, "noSuchEndpoint", title: "No such endpoint",
        detail: "this path is not a WHIP or WHEP endpoint of the room",
        fix: "check the WHIP or WHEP URL of the client")

    package static func methodNotAllowed(allowed: String) -> WHIPError {
        WHIPError(
            405, "methodNotAllowed", title: "Method not allowed", detail: "this resource allows only \(allowed)",
            fix: "use one of the allowed methods")
    }

    package static func unsupportedType(expected: String) -> WHIPError {
        WHIPError(
            415, "unsupportedMediaType", title: "Unsupported media type", detail: "the body must be \(expected)",
            fix: "send Content-Type: \(expected)")
    }

    package static let preconditionRequired = WHIPError(
        428, "preconditionRequired", title: "If-Match missing", detail: "the PATCH has no If-Match",
        fix: "send If-Match with the ETag of the session, or \"*\" for an ICE restart")

    package static let preconditionFailed = WHIPError(
        412, "preconditionFailed", title: "ETag out of date",
        detail: "If-Match is not the ETag of the session's current ICE credentials",
        fix: "use the ETag of the last reply, or \"*\" for an ICE restart")
}
