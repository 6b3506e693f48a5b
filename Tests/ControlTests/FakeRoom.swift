import Control
import Dispatch
import Events
import Synchronization

/// A room that records the calls it gets, and refuses some ids and bodies.
final class FakeRoom: RoomControlling, SceneControlling, OutputControlling {
    var sceneControl: any SceneControlling { self }
    var outputControl: any OutputControlling { self }
    private let log = Mutex<[String]>([])
    let health: HealthReport
    let eventLog = EventLog(capacity: 8)
    /// A change of the document whose body contains `hang` waits for this semaphore.
    let hang = DispatchSemaphore(value: 0)
    /// Number of changes that have waited or wait for ``hang``.
    let hanging = Atomic<Int>(0)

    init(
        health: HealthReport = HealthReport(
            live: true, ready: true, started: true, state: "live", checks: ["tick": "ok"])
    ) {
        self.health = health
    }

    /// The client that receives the program's audio next.
    let tap = Mutex<AudioTapStream?>(nil)

    func openAudioTap() throws(ControlFailure) -> AudioTapStream {
        guard let stream = self.tap.withLock({ $0.take() }) else {
            throw .conflict("the program has not begun", fix: "wait")
        }
        return stream
    }

    /// The last PK command.
    let pkCommand = Mutex<PKCommand?>(nil)

    var calls: [String] { self.log.withLock { $0 } }

    /// The durability of commands whose reply waits for it.
    let durability = Mutex(CommandDurability.durable)
    private let ended = Mutex<[(record: CommandRecord, waits: Bool)]>([])
    /// Revision and replies of earlier workers.
    let memory = Mutex(CommandMemory())
    var records: [(record: CommandRecord, waits: Bool)] { self.ended.withLock { $0 } }
    var commandMemory: CommandMemory { self.memory.withLock { $0 } }

    func beginCommand() {}
    func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void
    ) {
        self.ended.withLock { $0.append((record, waits)) }
        answer(waits ? self.durability.withLock { $0 } : .durable)
    }

    let incarnation: Int64 = 3
    func stateJSON(revision: Int64) -> String { #"{"state":"live"}"# }
    func scenesJSON() -> String { #"{"scenes":[]}"# }
    func statisticsJSON(isDebug: Bool) -> String { #"{"level":"\#(isDebug ? "debug" : "standard")"}"# }
    func sourcesJSON() -> String { #"{"sources":[]}"# }

    func documentJSON() throws(ControlFailure) -> String { #"{"room":{}}"# }

    func setDocument(_ body: [UInt8], isPatch: Bool, isDryRun: Bool) throws(ControlFailure) -> DocumentReply {
        let text = String(decoding: body, as: UTF8.self)
        guard !text.contains("canvas") else {
            throw .needsRestart("canvas: cannot change while the room runs", fix: "run the new file")
        }
        if text.contains("hang") {
            self.hanging.add(1, ordering: .relaxed)
            self.hang.wait()
        }
        self.note("document \(isPatch ? "patch" : "whole") \(isDryRun ? "dry " : "")\(text)")
        return DocumentReply(
            revision: 8, changed: !isDryRun, isDryRun: isDryRun, applied: [], effect: nil, warnings: [])
    }

    func setProgram(_ body: [UInt8]) throws(ControlFailure) -> ProgramReply {
        let text = String(decoding: body, as: UTF8.self)
        guard !text.contains("pkk") else {
            throw .notFound("there is no scene \"a\"\u{1}b\"", fix: "use one of: solo, pk")
        }
        self.note("program \(text)")
        return ProgramReply(sceneID: "pk", changed: true, effect: EffectTime(tick: 7))
    }

    func setScene(_ sceneID: String, _ body: [UInt8]) throws(ControlFailure) -> SceneReply {
        guard !body.isEmpty else {
            var failure = ControlFailure.invalidLayout("panes[0].x: is missing", fix: "add it")
            failure.details = [.init(path: "panes[0].x", line: 2, column: 5, what: "is missing", fix: "add it")]
            throw failure
        }
        guard body.count > 1 else { throw .superseded("revision 3 is older than 4", fix: "send 5") }
        self.note("scene \(sceneID) \(String(decoding: body, as: UTF8.self))")
        return SceneReply(sceneID: sceneID, revision: 5, changed: true, effect: nil, warnings: [])
    }

    func removeScene(_ sceneID: String) throws(ControlFailure) -> String {
        self.note("remove \(sceneID)")
        return "{}"
    }

    func sourceJSON(uid: String, streamType: String) throws(ControlFailure) -> String {
        guard uid == "1001" else { throw .notFound("there is no source \"\(uid)\"", fix: "use one of: 1001") }
        return #"{"uid":"1001","streamType":"\#(streamType)"}"#
    }

    func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure) {
        guard uid == "1001" || uid == "a/b" else {
            throw .notFound("there is no source \"\(uid)\"", fix: "use one of: 1001")
        }
        func text(_ value: (some CustomStringConvertible)?) -> String { value.map { "\($0)" } ?? "-" }
        let parts = [
            text(change.volume), text(change.audioPush), text(change.videoPush), text(change.offsetMs),
            text(change.rotation),
        ]
        self.note("source \(uid) \(streamType) \(parts.joined(separator: " "))")
    }

    func setText(_ id: String, _ text: String) throws(ControlFailure) -> String {
        self.note("text \(id) \(text)")
        return "{}"
    }

    func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String {
        self.note("score \(id) \(left.map { "\($0)" } ?? "-") \(right.map { "\($0)" } ?? "-")")
        return "{}"
    }

    func setCountdown(_ id: String, _ end: CountdownEnd) throws(ControlFailure) -> String {
        switch end {
        case .seconds(let seconds): self.note("countdown \(id) in \(seconds)")
        case .date(let date): self.note("countdown \(id) at \(date)")
        }
        return "{}"
    }

    func putRelay(uid: String, streamType: String, relayID: String, url: String) throws(ControlFailure) -> String {
        guard uid == "1001" || uid == "a/b" else {
            throw .notFound("there is no source \"\(uid)\"", fix: "use one of: 1001")
        }
        guard relayID != "r5" else { throw .limitExceeded("1001 goes to 4 rooms already", fix: "delete one") }
        self.note("relay \(uid) \(streamType) \(relayID) \(url)")
        return #"{"state":"connecting"}"#
    }

    func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure) {
        guard relayID == "r1" else { throw .notFound("1001 has no relay \"\(relayID)\"", fix: "use one of: r1") }
        self.note("no relay \(uid) \(streamType) \(relayID)")
    }

    func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String {
        guard uid == "1001" || uid == "a/b" else {
            throw .notFound("there is no source \"\(uid)\"", fix: "use one of: 1001")
        }
        self.note("kick \(uid) \(streamType) \(refuseSeconds)")
        return #"{"wasPublishing":true}"#
    }

    func requestStill(uid: String, streamType: String) throws(ControlFailure) -> String {
        guard uid == "1001" else { throw .notFound("there is no source \"\(uid)\"", fix: "use one of: 1001") }
        self.note("still of \(uid) \(streamType)")
        return #"{"accepted":"still"}"#
    }

    func changePK(_ command: PKCommand) throws(ControlFailure) -> String {
        self.note("pk \(command)")
        self.pkCommand.withLock { $0 = command }
        return #"{"phase":"pk"}"#
    }

    func alarmsJSON(_ state: AlarmState) -> String { #"{"alarms":["\#(state.rawValue)"]}"# }

    func restart(_ id: String) throws(ControlFailure) -> String {
        guard id == "cdn" else { throw .notFound("there is no output \(id)", fix: "use cdn") }
        self.note("restart \(id)")
        return #"{"accepted":"restart"}"#
    }

    func start(_ id: String) throws(ControlFailure) -> String {
        guard id == "rec" else { throw .notFound("there is no output \(id)", fix: "use rec") }
        self.note("start \(id)")
        return #"{"accepted":"start"}"#
    }

    func stop(_ id: String) throws(ControlFailure) -> String {
        guard id == "rec" else { throw .notFound("there is no output \(id)", fix: "use rec") }
        self.note("stop \(id)")
        return #"{"accepted":"stop"}"#
    }

    func requestKeyframe(_ rendition: String) throws(ControlFailure) -> String {
        guard rendition == "720p" else { throw .notFound("there is no \(rendition)", fix: "use 720p") }
        self.note("keyframe \(rendition)")
        return #"{"accepted":"keyframe"}"#
    }

    func announceDemand(_ rendition: String, seconds: Int) throws(ControlFailure) -> String {
        self.note("demand \(rendition) \(seconds)")
        return #"{"accepted":"demand"}"#
    }

    func metricsText() -> String { "a 1\n" }
    func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String {
        self.note("clip \(request.from) \(request.to) \(request.rendition ?? "-") \(request.name ?? "-")")
        return #"{"id":"clip-1-1"}"#
    }

    func clipJSON(_ id: String) throws(ControlFailure) -> String {
        guard id == "clip-1-1" else { throw .notFound("there is no clip \(id)", fix: "use clip-1-1") }
        return #"{"id":"clip-1-1"}"#
    }

    func still(
        of source: (uid: String, streamType: String), width: Int, isLive: Bool, known: String?,
        _ answer: @escaping @Sendable (Result<SourceStill, ControlFailure>) -> Void
    ) {
        self.note("still \(source.uid) \(source.streamType) \(width)\(isLive ? " live" : "")")
        let tag = "\"f1-\(width)\""
        answer(.success(SourceStill(tag: tag, ageMs: 40, bytes: known == tag ? nil : Array("jpeg".utf8))))
    }

    func clipsJSON() -> String { #"{"clips":[]}"# }

    func addMetadata(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply {
        guard body.count < 1_000 else { throw .inputTooLarge("the event is too large", fix: "send less") }
        self.note("metadata \(String(decoding: body, as: UTF8.self))")
        return MetadataReply(id: "g1", type: "gift", changed: true, effect: EffectTime())
    }

    func end() { self.note("end") }
    func drain() { self.note("drain") }

    private func note(_ call: String) { self.log.withLock { $0.append(call) } }
}
