import Control
import Events
import HTTPListener
import HTTPTypes
import MediaTypes
import PipelineSpec
import Synchronization

/// Operators' requests: method, target and body, up to the reply.
///
/// Input: method, a space, target, a line feed, body. Further requests follow after the byte 0x1E; the room keeps its
/// state.
enum ControlCase {
    static let entry = FuzzCase("control", longest: 3000, seeds: Self.seeds, run: Self.run)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        let requests = [
            "GET /v1/state\n", "HEAD /v1/room\n",
            "PUT /v1/program\n{\"sceneId\":\"solo\",\"at\":\"2026-01-31T20:00:00.000Z\"}",
            "GET /v1/scenes\n", "PUT /v1/scenes/pk\n{\"layout\":\"sideBySide\",\"uids\":[\"1\",\"2\"],\"revision\":3}",
            "DELETE /v1/scenes/pk\n", "GET /v1/sources/1?streamType=main\n",
            "PUT /v1/sources/1%2Fx\n{\"volume\":150,\"audioTrack\":1,\"audioPush\":true,\"offsetMs\":-200,\"rotation\":90}",
            "POST /v1/sources/1:kick\n{\"refuseSeconds\":60}",
            "PUT /v1/sources/1/relays/other\n{\"url\":\"rtmp://host/app/key\"}", "DELETE /v1/sources/1/relays/other\n",
            "PUT /v1/texts/title\n{\"text\":\"A \\u00e9\\ud83d\\ude00 \\\"b\\\"\"}",
            "PUT /v1/scores/pk\n{\"left\":1,\"right\":2}", "PUT /v1/countdowns/c\n{\"seconds\":30}",
            "PUT /v1/countdowns/c\n{\"endsAt\":\"2026-01-31T20:00:00.000Z\"}", "POST /v1/room:end\n",
            "POST /v1/room:drain\n{}",
            "POST /v1/pk:start\n{\"countdownMs\":3000,\"durationMs\":null}", "POST /v1/pk:punish\n{\"punishMs\":1e3}",
            "POST /v1/pk:end\n{}", "GET /livez\n", "GET /readyz\n", "GET /startupz\n", "GET /v1/nothing?a=b&c\n",
            "GET http://127.0.0.1/v1/state?%zz\n", "OPTIONS *\n",
            "GET /v1/document\n",
            "PATCH /v1/room?dryRun=false\n{\"revision\":3,\"room\":{\"title\":\"t\"},\"ext\":null}",
        ]
        return requests.enumerated().map { ("request.\($0.offset)", Array($0.element.utf8)) }
            + [("all", Array(requests.joined(separator: "\u{1E}").utf8))]
    }

    static func run(_ bytes: [UInt8]) -> String? {
        guard let pipeline = PipelineCase.base else { return "the pipeline of this case is refused" }
        let room = FuzzRoom(pipeline)
        let listen = ListenAddress.tcp(host: "127.0.0.1", port: 9000)
        let responder = ControlResponder(room: room, guardian: AccessGuard(listen: listen, token: nil))
        for piece in bytes.split(separator: 0x1E, omittingEmptySubsequences: false).prefix(30) {
            guard let request = Self.request(piece) else { continue }
            let reply = responder.reply(to: request)
            if let broken = Self.check(reply) {
                return "\(broken) for \(request.head.method) \(request.head.path ?? "")"
            }
        }
        return room.broken
    }

    private static func request(_ bytes: ArraySlice<UInt8>) -> ListenerRequest? {
        let end = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
        let line = bytes[..<end].split(separator: 0x20, maxSplits: 1)
        guard line.count == 2, let method = HTTPRequest.Method(String(decoding: line[0], as: UTF8.self)) else {
            return nil
        }
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:9000", path: String(decoding: line[1], as: UTF8.self))
        let body = Array(bytes[end...].dropFirst())
        return ListenerRequest(head: head, body: body.count > ControlResponder.bodyLimit ? .tooLarge : .bytes(body))
    }

    private static func check(_ reply: ListenerReply) -> String? {
        // The page's own files, and streams of events.
        if reply.status == .ok, reply.fields[.contentType]?.hasPrefix("text/") == true { return nil }
        guard case .bytes(let body, let range) = reply.body else { return "a reply without bytes" }
        let document = JSONParser.parse(Array(body[range]))
        guard let root = document.root, document.mistakes.isEmpty else { return "a reply that is not JSON" }
        let code = reply.status.code
        if code == 500 { return "a reply of status 500" }
        guard code >= 400 else { return nil }
        guard root[key: "code"]?.string?.isEmpty == false, root[key: "fix"]?.string?.isEmpty == false else {
            // The probes answer 503 and report the problem in their own form.
            return code == 503 ? nil : "a refusal without code or remedy"
        }
        return nil
    }
}

/// A room that handles documents.
private final class FuzzRoom: RoomControlling, SceneControlling, OutputControlling {
    var sceneControl: any SceneControlling { self }
    var outputControl: any OutputControlling { self }
    private struct State {
        var sceneStore: SceneStore
        var broken: String?
    }

    private let pipeline: Pipeline
    private let state: Mutex<State>
    private let document: Mutex<RoomDocument?>

    init(_ pipeline: Pipeline) {
        self.pipeline = pipeline
        self.document = Mutex(
            RoomDocument(Array(PipelineCase.baseText.utf8), overrides: [], pipeline: pipeline))
        self.state = Mutex(State(sceneStore: SceneStore(pipeline.scenes)))
    }

    var broken: String? { self.state.withLock { $0.broken } }

    private func promise(_ holds: Bool, _ what: String) {
        if !holds { self.state.withLock { $0.broken = what } }
    }

    private static func refusal(_ mistakes: [SpecDiagnostic]) -> ControlFailure {
        var failure = ControlFailure.invalidFormat("the document is wrong", fix: "see errors", status: 422)
        failure.details = mistakes.map {
            ControlFailure.Detail(path: $0.path, line: 0, column: 0, what: $0.what, fix: $0.fix)
        }
        return failure
    }

    let incarnation: Int64 = 1
    func stateJSON(revision: Int64) -> String { "{}" }
    func scenesJSON() -> String { "{}" }
    func sourcesJSON() -> String { "{}" }
    func statisticsJSON(isDebug: Bool) -> String { "{}" }
    let eventLog = EventLog(earlier: [EventRecord(sequence: 3, type: "a.b", line: #"{"type":"a.b"}"#)])
    func metricsText() -> String { "a 1\n" }
    func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String { "{}" }
    func clipJSON(_ id: String) throws(ControlFailure) -> String { "{}" }
    func clipsJSON() -> String { "{}" }
    func alarmsJSON(_ state: AlarmState) -> String { "{}" }
    func restart(_ id: String) throws(ControlFailure) -> String {
        throw .notFound("this room has no output \(id.prefix(64))", fix: "name another one")
    }
    func start(_ id: String) throws(ControlFailure) -> String {
        throw .notFound("this room has no output \(id.prefix(64))", fix: "name another one")
    }
    func stop(_ id: String) throws(ControlFailure) -> String {
        (["outputId": .string(id)] as JSONValue).text
    }
    func requestKeyframe(_ rendition: String) throws(ControlFailure) -> String {
        (["rendition": .string(rendition)] as JSONValue).text
    }
    func announceDemand(_ rendition: String, seconds: Int) throws(ControlFailure) -> String {
        (["rendition": .string(rendition)] as JSONValue).text
    }
    func end() {}
    func addMetadata(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply {
        switch MetadataRequest.parse(body) {
        case .success(let request):
            return MetadataReply(id: request.id ?? "n1", type: request.type, changed: true, effect: EffectTime())
        case .failure(let refusal): throw Self.refusal(refusal.mistakes)
        }
    }
    func drain() {}
    var health: HealthReport {
        HealthReport(live: true, ready: false, started: true, state: "live", checks: ["a\"b": "\u{1}"])
    }

    func documentJSON() throws(ControlFailure) -> String { self.document.withLock { $0?.shown.text() ?? "{}" } }

    func setDocument(_ body: [UInt8], isPatch: Bool, isDryRun: Bool) throws(ControlFailure) -> DocumentReply {
        try self.document.withLock { document throws(ControlFailure) -> DocumentReply in
            guard let current = document else { throw .notFound("there is no document", fix: "start with one") }
            switch isPatch ? current.patched(body) : current.next(body) {
            case .failure(let refusal): throw Self.refusal(refusal.mistakes)
            case .success(let read):
                do throws(DocumentChange.Refusal) {
                    let change = try DocumentChange(from: current, to: read.document)
                    self.promise(change.document.revision >= current.revision, "a revision lower than the current one")
                    self.promise(
                        !change.document.shown.text().contains("\"streamKey\":"), "the shown document has a stream key")
                    if !isDryRun { document = change.document }
                    return DocumentReply(
                        revision: change.document.revision, changed: !isDryRun, isDryRun: isDryRun,
                        applied: change.paths, effect: nil, warnings: [])
                } catch {
                    throw .superseded("it is older, or needs another worker", fix: "send another")
                }
            }
        }
    }

    func setProgram(_ body: [UInt8]) throws(ControlFailure) -> ProgramReply {
        switch ProgramRequest.parse(body) {
        case .success(let request):
            return ProgramReply(sceneID: request.sceneID, changed: true, effect: EffectTime())
        case .failure(let refusal): throw Self.refusal(refusal.mistakes)
        }
    }

    func setScene(_ sceneID: String, _ body: [UInt8]) throws(ControlFailure) -> SceneReply {
        let report = Scene.parse(body, sceneID: sceneID, in: self.pipeline)
        guard let scene = report.scene else { throw Self.refusal(report.mistakes) }
        let judged = self.state.withLock { state -> Result<Scene, SceneStore.Refusal> in
            do throws(SceneStore.Refusal) {
                let scene = try state.sceneStore.judge(scene, hasRevision: report.hasRevision).scene
                state.sceneStore.put(scene)
                return .success(scene)
            } catch {
                return .failure(error)
            }
        }
        switch judged {
        case .success(let scene):
            self.promise(scene.sceneID == sceneID, "a scene under another name")
            return SceneReply(
                sceneID: scene.sceneID, revision: scene.revision, changed: true, effect: nil, warnings: [])
        case .failure: throw .superseded("a newer version is known", fix: "send a greater revision")
        }
    }

    func removeScene(_ sceneID: String) throws(ControlFailure) -> String {
        guard self.state.withLock({ $0.sceneStore.remove(sceneID) }) != nil else {
            throw .notFound("no scene \(sceneID)", fix: "name one of the scenes")
        }
        return (["deleted": .string(sceneID)] as JSONValue).text
    }

    func sourceJSON(uid: String, streamType: String) throws(ControlFailure) -> String {
        (["uid": .string(uid), "streamType": .string(streamType)] as JSONValue).text
    }

    func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure) {
        self.promise(change.volume.map { (0...200).contains($0) } ?? true, "a volume beyond its range")
        self.promise(change.audioTrack.map { (0...255).contains($0) } ?? true, "an audio track beyond its range")
        self.promise(change.offsetMs.map { (-10_000...10_000).contains($0) } ?? true, "an offset beyond its range")
        self.promise(
            change.rotation.map { [0, 90, 180, 270].contains($0) } ?? true,
            "a rotation other than 0, 90, 180 and 270 degrees")
    }

    func setText(_ id: String, _ text: String) throws(ControlFailure) -> String {
        self.promise(text.unicodeScalars.count <= 256, "a text too long")
        return (["id": .string(id), "text": .string(text)] as JSONValue).text
    }

    func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String {
        for points in [left, right].compactMap({ $0 }) {
            self.promise((0...1_000_000_000).contains(points), "points beyond their range")
        }
        return (["id": .string(id)] as JSONValue).text
    }

    func setCountdown(_ id: String, _ end: CountdownEnd) throws(ControlFailure) -> String {
        if case .seconds(let seconds) = end { self.promise((0...86_400).contains(seconds), "a countdown too long") }
        return (["id": .string(id)] as JSONValue).text
    }

    func putRelay(uid: String, streamType: String, relayID: String, url: String) throws(ControlFailure) -> String {
        self.promise(!relayID.contains("/") && (1...64).contains(relayID.utf8.count), "a relay id that is not allowed")
        guard let url = RTMPURL(url) else { throw .invalidFormat("no URL", fix: "send rtmp://host/app/key") }
        return (["id": .string(relayID), "url": .string(url.redacted)] as JSONValue).text
    }

    func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure) {}

    func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String {
        self.promise((0...86_400).contains(refuseSeconds), "a refusal too long")
        return (["uid": .string(uid)] as JSONValue).text
    }

    func changePK(_ command: PKCommand) throws(ControlFailure) -> String { "{}" }
}
