package import HTTPTypes

/// The CORS policy: which web pages of other origins may play this room.
///
/// Spec: Fetch §3.3 (CORS protocol).
package struct CORSPolicy: Sendable, Hashable {
    private enum Rule: Hashable {
        case everyone
        case listed(Set<String>)
    }

    private let rule: Rule

    /// Makes a policy.
    ///
    /// - Parameter allowOrigins: Origins as browsers send them, such as `https://player.example`; `*` allows every
    ///   page, an empty list none.
    package init(allowOrigins: [String]) {
        self.rule = allowOrigins.contains("*") ? .everyone : .listed(Set(allowOrigins.map(Self.normalized)))
    }

    /// Returns the `Origin` value if it is in the list of allowed origins; otherwise, and if every page is allowed, an
    /// empty string. Responses with the same key have the same CORS fields.
    package func key(origin: String?) -> String {
        switch self.rule {
        case .everyone: ""
        case .listed(let origins): origin.flatMap { origins.contains(Self.normalized($0)) ? $0 : nil } ?? ""
        }
    }

    /// Returns the CORS header fields for a response to a request with this `Origin` field.
    package func fields(origin: String?) -> HTTPFields {
        var fields: HTTPFields = [:]
        switch self.rule {
        case .everyone:
            fields[.accessControlAllowOrigin] = "*"
        case .listed(let origins):
            // A cache must not send the response for one page to another.
            if !origins.isEmpty { fields[.vary] = "Origin" }
            guard let origin, origins.contains(Self.normalized(origin)) else { return fields }
            fields[.accessControlAllowOrigin] = origin
        }
        fields[.accessControlExposeHeaders] = "Content-Length, Content-Range, Age, Date"
        return fields
    }

    /// Whether a page may open a WebSocket to this listener; browsers do not enforce this themselves (RFC 6455 §10.2).
    /// Allowed are pages of this listener, pages of allowed origins, and clients that send no `Origin` field, which are
    /// not web pages.
    ///
    /// - Parameter authority: Host and port of the request.
    package func admits(origin: String?, authority: String?) -> Bool {
        guard let origin else { return true }
        switch self.rule {
        case .everyone: return true
        case .listed(let origins):
            if origins.contains(Self.normalized(origin)) { return true }
            guard let authority, let scheme = origin.firstRange(of: "://") else { return false }
            return origin[scheme.upperBound...].lowercased() == authority.lowercased()
        }
    }

    /// Additional header fields for a CORS preflight response. They allow the request fields of players that need
    /// permission: `Range`, `If-None-Match` and Common Media Client Data (CTA-5004 §2).
    package static let preflight: HTTPFields = [
        .accessControlAllowMethods: "GET, HEAD, OPTIONS",
        .accessControlAllowHeaders: "Range, If-None-Match, CMCD-Object, CMCD-Request, CMCD-Session, CMCD-Status",
        .accessControlMaxAge: "86400",
    ]

    private static func normalized(_ origin: String) -> String {
        origin.hasSuffix("/") ? String(origin.dropLast()).lowercased() : origin.lowercased()
    }
}
