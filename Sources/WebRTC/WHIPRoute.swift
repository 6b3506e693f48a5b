import MediaTypes

/// What the path of a WHIP request names.
package enum WHIPRoute: Sendable, Hashable {
    /// `/whip/APP` or `/whip/APP/KEY`; nil: the path has no key.
    case endpoint(key: String?)
    /// `/whip/~/ID`.
    case session(id: String)
    /// `/whip` or a path below it that is neither.
    case unknown
    /// A path whose first segment is not `whip`.
    case other

    /// Segment before a session's id. It cannot be the first segment of an `app`.
    private static let sessions = "~"
    /// Bytes of a session id: 128 random bits cannot be guessed.
    package static let idBytes = 16

    /// - Parameters:
    ///   - path: Without query, percent-encoded.
    ///   - query: Becomes part of the key, since signed keys have their signature there.
    ///   - app: First segments of the stream's address.
    package init(path: String, query: String?, app: String) {
        let segments = path.split(separator: "/")
        guard segments.first == "whip", path.hasPrefix("/") else {
            self = .other
            return
        }
        let rest = segments.dropFirst()
        if rest.first == Substring(Self.sessions) {
            let id = rest.dropFirst().first ?? ""
            self = rest.count == 2 && id.utf8.count == Self.idBytes * 2 ? .session(id: String(id)) : .unknown
            return
        }
        let prefix = app.split(separator: "/")
        let decoded = rest.compactMap { PercentEncoding.decode($0) }
        guard decoded.count == rest.count, decoded.starts(with: prefix.map { String($0) }) else {
            self = .unknown
            return
        }
        let key = decoded.dropFirst(prefix.count).joined(separator: "/")
        guard !key.isEmpty else {
            self = .endpoint(key: nil)
            return
        }
        self = .endpoint(key: query.map { $0.isEmpty ? key : "\(key)?\($0)" } ?? key)
    }

    /// The value of `Location`: relative, without the key and without a query, which OBS would drop.
    ///
    /// - Parameter random: ``idBytes`` bytes of a cryptographic generator.
    /// - Returns: Path and id; nil for another number of bytes.
    package static func session(random: [UInt8]) -> (path: String, id: String)? {
        guard random.count == Self.idBytes else { return nil }
        let id = Hexadecimal.text(random)
        return ("/whip/\(Self.sessions)/\(id)", id)
    }

    /// Methods of the resource, for `Allow`.
    var methods: String {
        switch self {
        case .session: "DELETE, PATCH, GET, HEAD, OPTIONS"
        case .endpoint, .unknown, .other: "POST, GET, HEAD, OPTIONS"
        }
    }
}
