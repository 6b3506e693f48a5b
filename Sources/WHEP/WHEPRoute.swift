import MediaTypes

/// What the path of a WHEP request names.
package enum WHEPRoute: Sendable, Hashable {
    /// `/whep` or `/whep/NAME`; nil: the rendition in ``WHEPSettings/rendition``.
    case endpoint(rendition: String?)
    /// `/whep/session/ID`.
    case session(id: String)
    /// A path below `/whep/` that is neither.
    case unknown
    /// A path whose first segment is not `whep`.
    case other

    private static let sessions = "session"
    /// Bytes of a session id: 128 random bits cannot be guessed.
    package static let idBytes = 16

    /// - Parameter path: Without query, percent-encoded.
    package init(path: some StringProtocol) {
        let segments = path.split(separator: "/")
        guard path.hasPrefix("/"), segments.first.map({ String($0) }) == "whep" else {
            self = .other
            return
        }
        let rest = segments.dropFirst().map { String($0) }
        if rest.count == 2, rest[0] == Self.sessions, rest[1].utf8.count == Self.idBytes * 2 {
            self = .session(id: rest[1])
        } else if rest.count == 1, let name = PercentEncoding.decode(rest[0][...]) {
            self = .endpoint(rendition: name)
        } else {
            self = rest.isEmpty ? .endpoint(rendition: nil) : .unknown
        }
    }

    /// The value of `Location`: relative, and without a token.
    ///
    /// - Parameter random: ``idBytes`` bytes of a cryptographic generator.
    /// - Returns: Path and id; nil for another number of bytes.
    package static func session(random: [UInt8]) -> (path: String, id: String)? {
        guard random.count == Self.idBytes else { return nil }
        let id = Hexadecimal.text(random)
        return ("/whep/\(Self.sessions)/\(id)", id)
    }

    /// Methods of the resource, for `Allow`.
    var methods: String {
        switch self {
        case .session: "DELETE, PATCH, GET, HEAD, OPTIONS"
        case .endpoint, .unknown, .other: "POST, GET, HEAD, OPTIONS"
        }
    }
}
