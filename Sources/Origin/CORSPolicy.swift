package import HTTPTypes

/// Which pages of other origins may play this room.
///
/// Spec: Fetch §3.3 (CORS protocol).
package struct CORSPolicy: Sendable, Hashable {
    private enum Rule: Hashable {
        case everyone
        case listed(Set<String>)
    }

    private let rule: Rule

    /// - Parameter allowOrigins: Origins as browsers send them, such as `https://player.example`; `*` admits every page, an
    ///   empty list none.
    package init(allowOrigins: [String]) {
        self.rule = allowOrigins.contains("*") ? .everyone : .listed(Set(allowOrigins.map(Self.normalized)))
    }

    /// What of an `Origin` field the answer depends on; empty for nothing.
    package func key(origin: String?) -> String {
        switch self.rule {
        case .everyone: ""
        case .listed(let origins): origin.flatMap { origins.contains(Self.normalized($0)) ? $0 : nil } ?? ""
        }
    }

    /// The fields for a response to a request with this `Origin` field.
    package func fields(origin: String?) -> HTTPFields {
        var fields: HTTPFields = [:]
        switch self.rule {
        case .everyone:
            fields[.accessControlAllowOrigin] = "*"
        case .listed(let origins):
            // A cache must not hand the answer for one page to another.
            if !origins.isEmpty { fields[.vary] = "Origin" }
            guard let origin, origins.contains(Self.normalized(origin)) else { return fields }
            fields[.accessControlAllowOrigin] = origin
        }
        fields[.accessControlExposeHeaders] = "Content-Length, Content-Range, Age, Date"
        return fields
    }

    /// Whether a page may open a WebSocket here, which no browser keeps it from (RFC 6455 §10.2): one of this listener itself, one
    /// that may read replies, and who names no origin and so is no page.
    ///
    /// - Parameter authority: Of the request.
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

    /// The further fields for a preflight request. Fields of a player that need leave: `Range`, and what it tells of itself
    /// (CTA-5004 §2: Common Media Client Data in fields).
    package static let preflight: HTTPFields = [
        .accessControlAllowMethods: "GET, HEAD, OPTIONS",
        .accessControlAllowHeaders: "Range, If-None-Match, CMCD-Object, CMCD-Request, CMCD-Session, CMCD-Status",
        .accessControlMaxAge: "86400",
    ]

    private static func normalized(_ origin: String) -> String {
        origin.hasSuffix("/") ? String(origin.dropLast()).lowercased() : origin.lowercased()
    }
}
