package import HTTPListener
package import HTTPTypes

/// The endpoint of a request, determined by its path.
package enum ControlRoute: Hashable {
    case page(ControlPage.File)
    case description
    /// A media file, by its name on the viewers' listener.
    case media(String)
    case state
    /// The room: its state, or for PUT and PATCH its document.
    case room
    /// The pipeline document of the room.
    case document
    case program
    case scenes
    case scene(String)
    case sources
    case statistics
    case statisticsStream
    /// The program's audio over a WebSocket.
    case audio
    case events
    case alarms
    case logs
    case logLevel
    case version
    /// Restarts the connection of an RTMP output.
    case restart(outputID: String)
    /// Starts the recording of a `record` output while the room continues; ``stop(outputID:)`` stops it.
    case start(outputID: String)
    case stop(outputID: String)
    /// Makes the next frame that the encoder of a rendition receives a key frame (IDR).
    case keyframe(rendition: String)
    case demand(rendition: String)
    case metrics
    case metadata
    case source(uid: String)
    case relay(uid: String, relayID: String)
    case kick(uid: String)
    /// Starts or stops a source's own recording.
    case recording(uid: String, isStart: Bool)
    /// Sends a still of a source to the moderation service.
    case still(uid: String)
    /// Plays an overlay.
    case playOverlay(name: String)
    /// Adds cues to a subtitle rendition.
    case subtitleCue(name: String)
    case text(String)
    case score(String)
    case countdown(String)
    case clips
    case clip(String)
    /// The file of a finished clip.
    case clipFile(String)
    case snapshot
    case sourceSnapshot(uid: String)
    case sourceStill(uid: String)
    case end
    case drain
    case pk(PKVerb)
    case startup
    case liveness
    case readiness

    /// A command for the PK.
    package enum PKVerb: String, Hashable, CaseIterable { case start, punish, end }

    /// Whether requests need no token: health endpoints, and content that is the same for every room.
    package var isOpen: Bool {
        switch self {
        case .page, .description, .version: true
        default: self.isProbe
        }
    }

    /// Whether requests need a token even with `control.openReads`: the content includes file names and addresses of the
    /// machine, or is media that is not encrypted even if the room is.
    package var isInner: Bool {
        switch self {
        case .document, .logs, .clipFile, .audio: true
        default: false
        }
    }

    /// Whether the route is a health endpoint.
    package var isProbe: Bool {
        switch self {
        case .startup, .liveness, .readiness: true
        default: false
        }
    }

    /// Allowed HTTP methods, in the order of the `Allow` header field.
    package var methods: [HTTPRequest.Method] {
        switch self {
        case .page, .description, .media, .state, .document, .scenes, .sources, .statistics, .statisticsStream, .events,
            .metrics, .alarms, .logs, .version:
            [.get, .head]
        case .room: [.get, .head, .put, .patch]
        case .audio: [.get]
        case .startup, .liveness, .readiness: [.get, .head]
        case .program, .text, .score, .countdown, .logLevel: [.put]
        case .clips: [.get, .head, .post]
        case .clip, .clipFile, .snapshot, .sourceSnapshot, .sourceStill: [.get, .head]
        case .scene, .relay: [.put, .delete]
        case .source: [.get, .head, .put]
        case .end, .drain, .pk, .kick, .recording, .still, .playOverlay, .subtitleCue, .metadata, .restart, .start,
            .stop,
            .keyframe, .demand:
            [.post]
        }
    }

    package static let paths = [
        "/v1/room", "/v1/state", "/v1/document", "/v1/program", "/v1/scenes", "/v1/scenes/{sceneId}", "/v1/sources",
        "/v1/sources/{uid}", "/v1/sources/{uid}:kick", "/v1/sources/{uid}:still", "/v1/sources/{uid}/recording:start",
        "/v1/sources/{uid}/recording:stop", "/v1/sources/{uid}/relays/{id}", "/v1/overlays/{name}:play",
        "/v1/subtitles/{name}:cue",
        "/v1/texts/{textId}", "/v1/scores/{scoreId}", "/v1/stats", "/v1/stats/stream", "/v1/audio", "/v1/events",
        "/v1/alarms", "/v1/logs",
        "/v1/log-level",
        "/v1/outputs/{outputId}:restart", "/v1/outputs/{outputId}:start", "/v1/outputs/{outputId}:stop",
        "/v1/renditions/{name}:keyframe", "/v1/renditions/{name}:demand", "/v1/clips", "/v1/clips/{id}",
        "/v1/clips/{id}/file",
        "/v1/metadata", "/v1/snapshot", "/v1/sources/{uid}/snapshot",
        "/v1/sources/{uid}/still.jpg",
        "/v1/countdowns/{countdownId}", "/v1/pk:start", "/v1/pk:punish", "/v1/pk:end", "/v1/room:end",
        "/v1/room:drain", "/openapi.json", "/version", "/metrics", "/startupz", "/livez", "/readyz",
    ]

    /// Endpoints whose path ends with an id: the prefix, and the route for the rest of the path.
    private static let collections: [(prefix: String, route: @Sendable (String) -> ControlRoute?)] = [
        ("/v1/scenes/", { .scene($0) }), ("/v1/sources/", { Self.sourceOrRelay($0) }), ("/v1/texts/", { .text($0) }),
        ("/v1/scores/", { .score($0) }), ("/v1/countdowns/", { .countdown($0) }),
        ("/v1/clips/", { Self.clipOrFile($0) }),
        ("/media/", { .media($0) }),
        ("/v1/outputs/", { Self.output($0) }),
        ("/v1/overlays/", { Self.named($0, before: ":play").map { .playOverlay(name: $0) } }),
        ("/v1/subtitles/", { Self.named($0, before: ":cue").map { .subtitleCue(name: $0) } }),
        ("/v1/renditions/", { Self.rendition($0) }),
    ]

    /// The route of a request; nil if its path is malformed or unknown.
    package init?(of request: ListenerRequest) {
        guard let target = request.target else { return nil }
        self.init(path: target.path)
    }

    package init?(path: String) {
        switch path {
        case "/v1/room": self = .room
        case "/v1/state": self = .state
        case "/v1/document": self = .document
        case "/v1/program": self = .program
        case "/v1/scenes": self = .scenes
        case "/v1/sources": self = .sources
        case "/v1/stats": self = .statistics
        case "/v1/stats/stream": self = .statisticsStream
        case "/v1/audio": self = .audio
        case "/v1/alarms": self = .alarms
        case "/v1/logs": self = .logs
        case "/v1/log-level": self = .logLevel
        case "/version": self = .version
        case "/metrics": self = .metrics
        case "/v1/events": self = .events
        case "/v1/clips": self = .clips
        case "/v1/snapshot": self = .snapshot
        case "/v1/metadata": self = .metadata
        case "/v1/room:end": self = .end
        case "/v1/room:drain": self = .drain
        case "/v1/pk:start": self = .pk(.start)
        case "/v1/pk:punish": self = .pk(.punish)
        case "/v1/pk:end": self = .pk(.end)
        case "/openapi.json": self = .description
        case "/startupz": self = .startup
        case "/livez": self = .liveness
        case "/readyz": self = .readiness
        default:
            if let file = ControlPage.File(rawValue: path) {
                self = .page(file)
                return
            }
            guard let match = Self.collections.first(where: { path.hasPrefix($0.prefix) }) else { return nil }
            let id = String(path.dropFirst(match.prefix.count))
            guard !id.isEmpty else { return nil }
            guard let route = match.route(id) else { return nil }
            self = route
        }
    }

    /// The route of a command for an output; nil if there is none.
    private static func output(_ rest: String) -> ControlRoute? {
        if let id = self.named(rest, before: ":restart") { return .restart(outputID: id) }
        if let id = self.named(rest, before: ":start") { return .start(outputID: id) }
        return self.named(rest, before: ":stop").map { .stop(outputID: $0) }
    }

    /// The route of a command for a rendition; nil if there is none.
    private static func rendition(_ rest: String) -> ControlRoute? {
        if let name = self.named(rest, before: ":keyframe") { return .keyframe(rendition: name) }
        return self.named(rest, before: ":demand").map { .demand(rendition: $0) }
    }

    private static func clipOrFile(_ rest: String) -> ControlRoute {
        self.named(rest, before: "/file").map { .clipFile($0) } ?? .clip(rest)
    }

    /// The part of the path before a verb; nil if it is empty, or if the path does not end with the verb.
    private static func named(_ rest: String, before verb: String) -> String? {
        rest.hasSuffix(verb) && rest.utf8.count > verb.utf8.count ? String(rest.dropLast(verb.count)) : nil
    }

    /// The route of a source or of one of its relays. The path is parsed from its end, because a uid may contain
    /// slashes but a relay's id may not.
    private static func sourceOrRelay(_ rest: String) -> ControlRoute {
        let kick = ":kick"
        if rest.hasSuffix(kick), rest.utf8.count > kick.utf8.count {
            return .kick(uid: String(rest.dropLast(kick.count)))
        }
        for (verb, isStart) in [("/recording:start", true), ("/recording:stop", false)] {
            if let uid = self.named(rest, before: verb) { return .recording(uid: uid, isStart: isStart) }
        }
        let still = ":still"
        if rest.hasSuffix(still), rest.utf8.count > still.utf8.count {
            return .still(uid: String(rest.dropLast(still.count)))
        }
        let snapshot = "/snapshot"
        if rest.hasSuffix(snapshot), rest.utf8.count > snapshot.utf8.count {
            return .sourceSnapshot(uid: String(rest.dropLast(snapshot.utf8.count)))
        }
        let picture = "/still.jpg"
        if rest.hasSuffix(picture), rest.utf8.count > picture.utf8.count {
            return .sourceStill(uid: String(rest.dropLast(picture.utf8.count)))
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[parts.count - 2] == "relays", let id = parts.last, !id.isEmpty else {
            return .source(uid: rest)
        }
        return .relay(uid: parts.dropLast(2).joined(separator: "/"), relayID: String(id))
    }
}
