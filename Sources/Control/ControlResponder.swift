package import HTTPListener
import HTTPTypes
import MediaTypes
import Synchronization

/// Answers requests of operators: checks access, calls the room, and makes the reply.
package struct ControlResponder: Sendable {
    /// Allowed volumes of a source, in percent of the published volume.
    package static let volumeRange = 0...200
    /// The stream of a user that a request means if it names none.
    package static let defaultStreamType = "main"
    /// Largest size of a body in bytes: enough for a large scene, and small enough to be parsed quickly.
    package static let bodyLimit = 256 << 10

    let room: any RoomControlling
    private let guardian: AccessGuard
    let options: ControlListenerOptions
    private let page: ControlPage
    private let ledger: CommandRevisions
    private let followers = FollowerSlots()

    package init(
        room: any RoomControlling, guardian: AccessGuard, options: ControlListenerOptions = ControlListenerOptions()
    ) {
        self.room = room
        self.guardian = guardian
        self.options = options
        self.page = ControlPage(player: options.player, keyOrigin: options.keyOrigin)
        self.ledger = CommandRevisions(incarnation: room.incarnation, memory: room.commandMemory)
    }

    func carryOut(_ body: () throws(ControlFailure) -> Bool) throws(ControlFailure) {
        self.room.beginCommand()
        defer {
            let record = CommandRecord(revision: self.ledger.current.revision, reply: nil)
            self.room.endCommand(record, waits: false) { _ in }
        }
        try self.ledger.carryOut(body)
    }

    /// Answers a request: at once, or later, for example when its command is on disk or when the event for which it waits
    /// has occurred.
    ///
    /// - Parameter route: The route of the request's path, see ``ControlRoute/init(of:)``; nil if the path is unknown.
    package func answer(
        _ request: ListenerRequest, _ route: ControlRoute?, _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) {
        if let media = MediaRequest(request, self.options) {
            let isReading = self.options.media?.isReading == true
            if let refusal = self.guardian.refusal(of: request.head, isOpen: false, isReading: isReading) {
                return answer(.problem(refusal))
            }
            return media.answer(answer)
        }
        if route == .audio, request.head.method == .get { return answer(self.audio(request)) }
        let (waiting, numbers) = (EventRequest(request, route), StatisticsRequest(request, route))
        guard waiting != nil || numbers != nil, request.head.method == .get else {
            return self.reply(to: request, route, answer)
        }
        if let refusal = self.guardian.refusal(of: request.head, isOpen: false, isReading: true) {
            return answer(.problem(refusal))
        }
        let isCommander = self.guardian.refusal(of: request.head, isOpen: false) == nil
        guard let place = self.followers.take(isCommander: isCommander) else {
            return answer(.problem(FollowerSlots.refusal))
        }
        if let numbers { return answer(numbers.reply(from: self.room, request, place)) }
        waiting?.answer(from: self.room.eventLog, request, place, answer)
    }

    /// The reply to a request for the program's audio.
    private func audio(_ request: ListenerRequest) -> ListenerReply {
        if let refusal = self.guardian.refusal(of: request.head, isOpen: false, isReading: true, isInner: true) {
            return .problem(refusal)
        }
        do throws(ControlFailure) {
            try Self.refuseUnknown(request.target?.query ?? [], known: [])
        } catch {
            return .problem(error)
        }
        let isCommander = self.guardian.refusal(of: request.head, isOpen: false) == nil
        guard let place = self.followers.take(isCommander: isCommander) else {
            return .problem(FollowerSlots.refusal)
        }
        return AudioRequest.reply(from: self.room, request, place)
    }

    /// The reply to a request that does not wait for events. If the reply is not made at once, for example because a
    /// command waits for the disk, then an error is returned in its place.
    package func reply(to request: ListenerRequest, _ route: ControlRoute?) -> ListenerReply {
        let reply = Mutex<ListenerReply?>(nil)
        self.reply(to: request, route) { made in reply.withLock { $0 = made } }
        return reply.withLock { $0 } ?? .problem(Self.unanswered)
    }

    /// Same as ``answer(_:_:_:)``, for a caller that has not parsed the path.
    package func answer(_ request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void) {
        self.answer(request, ControlRoute(of: request), answer)
    }

    /// Same as ``reply(to:_:)``, for a caller that has not parsed the path.
    package func reply(to request: ListenerRequest) -> ListenerReply {
        self.reply(to: request, ControlRoute(of: request))
    }

    private static let unanswered = ControlFailure.requestFailed(
        "the reply is not made at once, for example because a command waits for the disk; the result is not known yet",
        fix: "check whether the command has taken effect")

    private func reply(
        to request: ListenerRequest, _ route: ControlRoute?, _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) {
        do throws(ControlFailure) {
            guard let target = request.target else {
                throw .invalidFormat("the path is malformed", fix: "percent-encode it as UTF-8")
            }
            let isReading = request.head.method == .get || request.head.method == .head
            if let refusal = self.guardian.refusal(
                of: request.head, isOpen: route?.isOpen == true, isReading: isReading,
                isInner: route?.isInner == true)
            {
                throw refusal
            }
            guard let route else { throw Self.unknownPath(target.path) }
            guard route.methods.contains(request.head.method) else {
                return answer(Self.wrongMethod(request.head.method, route))
            }
            let method = request.head.method
            guard case .bytes(let body) = request.body else {
                throw .inputTooLarge(
                    "the body is larger than 256 KiB", fix: "send only the members that this path accepts")
            }
            try Self.checkForm(of: request.head, route, body)
            if isReading {
                if case .sourceStill(let uid) = route {
                    return try self.still(of: uid, target.query, request.head, answer)
                }
                let isCommander = self.guardian.refusal(of: request.head, isOpen: false) == nil
                let outcome = try self.perform(
                    route, method, query: target.query, body: body, isCommander: isCommander)
                return answer(outcome.reply)
            }
            self.command(request, waits: Self.waits(route, body), answer) { () throws(ControlFailure) in
                try self.perform(route, method, query: target.query, body: body)
            }
        } catch {
            answer(.problem(error))
        }
    }

    /// Carries out a command.
    ///
    /// - Parameter waits: Whether the reply to a successful command is delayed, for a limited time, until the command is
    ///   on disk. The thread does not wait for that.
    private func command(
        _ request: ListenerRequest, waits: Bool, _ answer: @escaping @Sendable (ListenerReply) -> Void,
        _ body: () throws(ControlFailure) -> ControlOutcome
    ) {
        self.room.beginCommand()
        let (reply, isDone): (ListenerReply, Bool)
        do throws(ControlFailure) {
            (reply, isDone) = (try self.ledger.carryOut(request, body), true)
        } catch {
            (reply, isDone) = (.problem(error), false)
        }
        self.room.endCommand(self.ledger.record(of: request), waits: waits && isDone) { durability in
            answer(isDone ? reply.saying(durability) : reply)
        }
    }

    /// Whether the reply to a command waits for the disk. Replies to frequent commands, and to commands that later
    /// workers do not restore, do not wait.
    private static func waits(_ route: ControlRoute, _ body: [UInt8]) -> Bool {
        switch route {
        case .text, .score, .playOverlay, .subtitleCue, .metadata, .keyframe, .demand, .still, .restart, .clips,
            .logLevel:
            return false
        case .source:
            // The body sets only a volume, which changes often.
            let keys = ["volume", "audioTrack", "streamType"]
            return (try? FlatObject(body: body, keys: keys)) == nil
        default: return true
        }
    }

    private func perform(
        _ route: ControlRoute, _ method: HTTPRequest.Method, query: [(name: String, value: String)], body: [UInt8],
        isCommander: Bool = true
    ) throws(ControlFailure) -> ControlOutcome {
        switch route {
        case .source, .relay, .kick, .recording, .still, .statistics, .statisticsStream, .events, .snapshot,
            .sourceSnapshot,
            .sourceStill, .page,
            .description, .room, .alarms, .logs:
            break
        default: if !route.isProbe { try Self.refuseUnknown(query, known: []) }
        }
        switch route {
        case .page(let file): return ControlOutcome(self.page.reply(file))
        case .description: return ControlOutcome(ControlPage.description)
        // Requests for existing media were answered earlier.
        case .media: throw .notFound("this room has no HLS output", fix: "add an output of type hls")
        case .state: return ControlOutcome(self.state(isCommander: isCommander))
        case .room:
            guard method == .put || method == .patch else {
                try Self.refuseUnknown(query, known: [])
                return ControlOutcome(self.state(isCommander: isCommander))
            }
            return .command(.ok, try self.setDocument(body, isPatch: method == .patch, query))
        case .document:
            // The tag is read before the document. If the document changes in between, then the tag is too old, which
            // is safe; it is never too new.
            let tag = self.ledger.current.entityTag
            var reply = ListenerReply.json(.ok, try self.room.documentJSON())
            reply.fields[.eTag] = tag
            return ControlOutcome(reply)
        case .startup, .liveness, .readiness: return ControlOutcome(Self.probe(route, self.room.health))
        case .program: return .command(.ok, try self.room.sceneControl.setProgram(body))
        case .scenes: return .json(.ok, self.room.sceneControl.scenesJSON())
        case .scene(let id):
            let scenes = self.room.sceneControl
            return method == .delete
                ? .json(.ok, try scenes.removeScene(id)) : .command(.ok, try scenes.setScene(id, body))
        case .sources: return .json(.ok, self.room.sourcesJSON())
        case .metrics:
            let fields: HTTPFields = [.contentType: MetricsText.contentType, .cacheControl: "no-store"]
            return ControlOutcome(ListenerReply(.ok, fields: fields, body: .text(self.room.metricsText())))
        case .events: return ControlOutcome(try EventRequest.reply(query, from: self.room.eventLog))
        case .statisticsStream:
            _ = try Self.isDebug(query)
            return ControlOutcome(ListenerReply(.ok, fields: StatisticsRequest.fields))
        // Answered by ``audio(_:)``, because it is no ordinary reply.
        case .audio:
            try Self.refuseUnknown(query, known: [])
            throw AudioRequest.noWebSocket
        case .alarms: return .json(.ok, try self.alarms(query))
        case .logs: return .json(.ok, try self.logs(query))
        case .logLevel: return .command(.ok, try self.setLogLevel(body))
        case .version:
            let versions = self.options.versions.map { JSONValue.Member($0.name, .string($0.version)) }
            return .json(.ok, JSONValue.object(versions).text)
        case .restart(let id):
            _ = try FlatObject(body: body, keys: [])
            return .json(.accepted, try self.room.outputControl.restart(id))
        case .start(let id):
            _ = try FlatObject(body: body, keys: [])
            return .json(.accepted, try self.room.outputControl.start(id))
        case .stop(let id):
            _ = try FlatObject(body: body, keys: [])
            return .json(.accepted, try self.room.outputControl.stop(id))
        case .keyframe(let name):
            _ = try FlatObject(body: body, keys: [])
            return .json(.accepted, try self.room.outputControl.requestKeyframe(name))
        case .demand(let name):
            let values = try FlatObject(body: body, keys: ["seconds"])
            let seconds = try values.integer("seconds", in: 1...3_600) ?? Self.demandSeconds
            return .json(.accepted, try self.room.outputControl.announceDemand(name, seconds: seconds))
        case .statistics: return .json(.ok, self.room.statisticsJSON(isDebug: try Self.isDebug(query)))
        case .source(let uid):
            try Self.refuseUnknown(query, known: ["streamType"])
            let streamType = query.last?.value
            return .json(
                .ok,
                method == .put
                    ? try self.setSource(uid, streamType: streamType, body)
                    : try self.room.sourceJSON(uid: uid, streamType: streamType ?? Self.defaultStreamType))
        case .relay(let uid, let relayID):
            try Self.refuseUnknown(query, known: ["streamType"])
            let streamType = query.last?.value ?? Self.defaultStreamType
            return .json(
                .ok,
                method == .delete
                    ? try self.deleteRelay(uid, streamType, relayID, body)
                    : try self.putRelay(uid, streamType, relayID, body))
        case .kick(let uid):
            try Self.refuseUnknown(query, known: ["streamType"])
            return .json(.ok, try self.kick(uid, query.last?.value ?? Self.defaultStreamType, body))
        case .recording(let uid, let isStart):
            try Self.refuseUnknown(query, known: ["streamType"])
            _ = try FlatObject(body: body, keys: [])
            let streamType = query.last?.value ?? Self.defaultStreamType
            return .json(
                .accepted, try self.room.setRecording(uid: uid, streamType: streamType, isStart: isStart))
        case .still(let uid):
            try Self.refuseUnknown(query, known: ["streamType"])
            _ = try FlatObject(body: body, keys: [])
            let text = try self.room.requestStill(
                uid: uid, streamType: query.last?.value ?? Self.defaultStreamType)
            return ControlOutcome(.json(.accepted, text), changed: false)
        case .pk(let verb): return .json(.ok, try self.room.sceneControl.changePK(try Self.pkCommand(verb, body)))
        case .metadata: return .command(.accepted, try self.room.addMetadata(body))
        case .playOverlay(let name):
            return ControlOutcome(.json(.accepted, try self.playOverlay(name, body)), changed: false)
        case .subtitleCue(let name):
            return ControlOutcome(.json(.accepted, try self.room.addSubtitles(name, body)), changed: false)
        case .text(let id): return .json(.ok, try self.setText(id, body))
        case .score(let id): return .json(.ok, try self.setScore(id, body))
        case .countdown(let id): return .json(.ok, try self.setCountdown(id, body))
        case .clips:
            return method == .post
                ? .json(.accepted, try self.room.makeClip(try ClipRequest(body: body)))
                : .json(.ok, self.room.clipsJSON())
        case .snapshot: return ControlOutcome(try self.snapshot(of: nil, query))
        case .sourceSnapshot(let uid): return ControlOutcome(try self.snapshot(of: uid, query))
        // Answered by ``still(of:_:_:_:)``, because it waits for another thread.
        case .sourceStill: throw .notFound("there is no still", fix: "use GET or HEAD")
        case .clip(let id): return .json(.ok, try self.room.clipJSON(id))
        case .clipFile(let id): return ControlOutcome(try self.clipFile(id))
        case .end:
            _ = try FlatObject(body: body, keys: [])
            // The command would be accepted, but the room would continue in the next worker.
            guard self.room.health.state != "draining" else {
                throw .roomExited(
                    "this worker is handing the room over to a successor",
                    fix: "send the command to the successor")
            }
            self.room.end()
            return .json(.accepted, #"{"accepted":"end"}"#)
        case .drain:
            _ = try FlatObject(body: body, keys: [])
            self.room.drain()
            return .json(.accepted, #"{"accepted":"drain"}"#)
        }
    }

    /// Seconds for which viewers of a rendition are expected if the command does not say how long.
    private static let demandSeconds = 60

    private static let access = HTTPField.Name("Tandem-Access") ?? .from

    /// The reply with the room's state. The header field `Tandem-Access` says whether the client may send commands.
    private func state(isCommander: Bool) -> ListenerReply {
        let (revision, tag) = self.ledger.current
        var reply = ListenerReply.json(.ok, self.room.stateJSON(revision: revision))
        reply.fields[.eTag] = tag
        reply.fields[Self.access] = isCommander ? "command" : "read"
        return reply
    }

    /// Parses the query parameter `level`: `standard` (the default) or `debug`.
    static func isDebug(_ query: [(name: String, value: String)]) throws(ControlFailure) -> Bool {
        try self.refuseUnknown(query, known: ["level"])
        switch query.last?.value ?? "standard" {
        case "standard": return false
        case "debug": return true
        case let other:
            throw .invalidFormat("there is no level \"\(other.prefix(32))\"", fix: "use standard or debug")
        }
    }

    static func probe(_ route: ControlRoute, _ report: HealthReport) -> ListenerReply {
        switch route {
        case .startup: .health(report, passes: report.started)
        case .readiness: .health(report, passes: report.ready)
        default: .health(report, passes: report.live)
        }
    }

    static func refuseUnknown(_ query: [(name: String, value: String)], known: [String]) throws(ControlFailure) {
        if let pair = query.first(where: { !known.contains($0.name) }) {
            throw FlatObject.unknown("query parameter", pair.name, known: known)
        }
    }

    private static func unknownPath(_ path: String) -> ControlFailure {
        let nearest = SpecText.nearest(to: path, among: ControlRoute.paths).map { "did you mean \($0)? " } ?? ""
        return .notFound(
            "there is no path \(path.prefix(64)) in this API",
            fix: "\(nearest)known: \(ControlRoute.paths.joined(separator: ", "))")
    }

    static func wrongMethod(_ method: HTTPRequest.Method, _ route: ControlRoute) -> ListenerReply {
        let allowed = route.methods.map(\.rawValue).joined(separator: ", ")
        var reply = ListenerReply.problem(
            .invalidFormat("\(method.rawValue) is not a method of this path", fix: "use \(allowed)", status: 405))
        reply.fields[.allow] = allowed
        return reply
    }
}
