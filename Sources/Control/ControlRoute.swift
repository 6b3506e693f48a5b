import HTTPListener
package import HTTPTypes

/// What a request asks for, by method and path.
package enum ControlRoute: Hashable {
    case state
    case program
    case scenes
    case scene(String)
    case sources
    case source(uid: String)
    case text(String)
    case score(String)
    case countdown(String)
    case end
    case drain
    case startup
    case liveness
    case readiness

    /// A health endpoint.
    package var isProbe: Bool {
        switch self {
        case .startup, .liveness, .readiness: true
        default: false
        }
    }

    /// Methods the route answers, in the order of `Allow`.
    package var methods: [HTTPRequest.Method] {
        switch self {
        case .state, .scenes, .sources, .startup, .liveness, .readiness: [.get, .head]
        case .program, .text, .score, .countdown: [.put]
        case .scene: [.put, .delete]
        case .source: [.get, .head, .put]
        case .end, .drain: [.post]
        }
    }

    package static let paths = [
        "/v1/room", "/v1/state", "/v1/program", "/v1/scenes", "/v1/scenes/{sceneId}", "/v1/sources",
        "/v1/sources/{uid}", "/v1/texts/{textId}", "/v1/scores/{scoreId}", "/v1/countdowns/{countdownId}",
        "/v1/room:end", "/v1/room:drain", "/startupz", "/livez", "/readyz",
    ]

    /// Whatever stands below a collection is an id.
    private static let collections: [(prefix: String, route: @Sendable (String) -> ControlRoute)] = [
        ("/v1/scenes/", { .scene($0) }), ("/v1/sources/", { .source(uid: $0) }), ("/v1/texts/", { .text($0) }),
        ("/v1/scores/", { .score($0) }), ("/v1/countdowns/", { .countdown($0) }),
    ]

    package init?(path: String) {
        switch path {
        case "/v1/room", "/v1/state": self = .state
        case "/v1/program": self = .program
        case "/v1/scenes": self = .scenes
        case "/v1/sources": self = .sources
        case "/v1/room:end": self = .end
        case "/v1/room:drain": self = .drain
        case "/startupz": self = .startup
        case "/livez": self = .liveness
        case "/readyz": self = .readiness
        default:
            guard let match = Self.collections.first(where: { path.hasPrefix($0.prefix) }) else { return nil }
            let id = String(path.dropFirst(match.prefix.count))
            guard !id.isEmpty else { return nil }
            self = match.route(id)
        }
    }
}
