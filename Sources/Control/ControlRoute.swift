import HTTPListener
package import HTTPTypes

/// What a request asks for, by method and path.
package enum ControlRoute: Hashable {
    case state
    case program
    case source(uid: String)
    case relay(uid: String, relayID: String)
    case end
    case drain
    case pk(PKVerb)
    case startup
    case liveness
    case readiness

    /// What is to happen with the PK.
    package enum PKVerb: String, Hashable, CaseIterable { case start, punish, end }

    /// A health endpoint.
    package var isProbe: Bool {
        switch self {
        case .startup, .liveness, .readiness: true
        case .state, .program, .source, .relay, .end, .drain, .pk: false
        }
    }

    /// Methods the route answers, in the order of `Allow`.
    package var methods: [HTTPRequest.Method] {
        switch self {
        case .state, .startup, .liveness, .readiness: [.get, .head]
        case .program, .source: [.put]
        case .relay: [.put, .delete]
        case .end, .drain, .pk: [.post]
        }
    }

    package static let paths = [
        "/v1/room", "/v1/state", "/v1/program", "/v1/sources/{uid}", "/v1/sources/{uid}/relays/{id}",
        "/v1/room:end", "/v1/room:drain", "/v1/pk:start", "/v1/pk:punish", "/v1/pk:end", "/startupz", "/livez",
        "/readyz",
    ]

    package init?(path: String) {
        switch path {
        case "/v1/room", "/v1/state": self = .state
        case "/v1/program": self = .program
        case "/v1/room:end": self = .end
        case "/v1/room:drain": self = .drain
        case "/v1/pk:start": self = .pk(.start)
        case "/v1/pk:punish": self = .pk(.punish)
        case "/v1/pk:end": self = .pk(.end)
        case "/startupz": self = .startup
        case "/livez": self = .liveness
        case "/readyz": self = .readiness
        default:
            let prefix = "/v1/sources/"
            guard path.hasPrefix(prefix), path.count > prefix.count else { return nil }
            let rest = path.dropFirst(prefix.count)
            // From the end: a uid may hold slashes, a relay's id may not.
            let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
            if parts.count >= 3, parts[parts.count - 2] == "relays", let id = parts.last, !id.isEmpty {
                self = .relay(uid: parts.dropLast(2).joined(separator: "/"), relayID: String(id))
            } else {
                self = .source(uid: String(rest))
            }
        }
    }
}
