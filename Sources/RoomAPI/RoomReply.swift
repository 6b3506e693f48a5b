package import Events
import HLS
package import MediaTypes
import PipelineSpec
package import Program

/// The reply to `GET /v1/room`.
package struct RoomReply: NamedReply {
    package static let schemaName = "RoomState"

    let facts: RoomFacts
    let revision: Int64
    /// When the state began, in nanoseconds since the Unix epoch.
    let since: Int64
    let cause: String?
    let desired: String
    /// The worker's clock, in nanoseconds since the Unix epoch.
    let time: Int64
    /// Program time 0, in nanoseconds since the Unix epoch; nil before the program has begun.
    let origin: Int64?
    let program: ProgramState
    let renditions: [RenditionReply]
    let latency: LatencyReply
    let addresses: [(name: String, address: String)]
    let alarms: [AlarmReply]
    /// In the shapes `PK`, `Output` and `Disk`.
    let pk: JSONValue
    let outputs: JSONValue
    let disk: JSONValue

    /// - Parameters:
    ///   - revision: Of what operators have changed, from 1.
    ///   - since: When the state began, in nanoseconds since the Unix epoch.
    ///   - cause: Why the room is recovering or degraded.
    ///   - desired: The state that the room is on its way to.
    ///   - time: The worker's clock, in nanoseconds since the Unix epoch.
    ///   - origin: Program time 0, in nanoseconds since the Unix epoch; nil before the program has begun.
    ///   - scene: The scene on air.
    ///   - scenes: All the scenes there are.
    ///   - level: How loud the program is; nil: not measured.
    ///   - lastSegment: Bytes of the last segment by rendition, and how many frames it is long.
    ///   - passthrough: The source whose packets pass in a rendition, or why none do; null if it has no passthrough.
    ///   - addresses: Of the room's listeners.
    package init(
        _ facts: RoomFacts, revision: Int64, since: Int64, cause: String?, desired: String, time: Int64,
        origin: Int64?, scene: String, scenes: [String], level: AudioLevels.Level?,
        lastSegment: (bytes: [String: Int], frames: Int64), passthrough: (_ rendition: String) -> JSONValue,
        latency: LatencyReply, addresses: [(name: String, address: String)], pk: JSONValue, outputs: JSONValue,
        alarms: [AlarmReply],
        disk: JSONValue
    ) {
        self.facts = facts
        self.revision = revision
        self.since = since
        self.cause = cause
        self.desired = desired
        self.time = time
        self.origin = origin
        self.program = ProgramState(scene: scene, scenes: scenes, tick: facts.tick, level: level)
        let fps = Int64(facts.pipeline.canvas.fps)
        self.renditions = facts.pipeline.renditions.map { rendition in
            let measured = lastSegment.bytes[rendition.name].flatMap { size -> Int64? in
                lastSegment.frames > 0 ? TimeMath.scale(Int64(size) * 8, by: fps, over: lastSegment.frames) : nil
            }
            return RenditionReply(
                rendition: rendition, measuredBitrate: measured, passthrough: passthrough(rendition.name))
        }
        self.latency = latency
        self.addresses = addresses
        self.pk = pk
        self.outputs = outputs
        self.alarms = alarms
        self.disk = disk
    }

    /// The words for the states of a room.
    package static let states = [
        "starting", "waiting", "preparing", "live", "recovering", "degraded", "ending", "draining", "failed", "closed",
    ]

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("roomId") { $0.facts.pipeline.room.roomID },
        ReplyMember("title") { $0.facts.pipeline.room.title },
        ReplyMember("state", as: .words(Self.states)) { $0.facts.phase },
        ReplyMember("since", "when the state began", as: .date) { ProgramDate.format($0.since) },
        ReplyMember("cause", "why it is recovering or degraded", as: .orNull(.words(["media", "output", "overload"]))) {
            $0.cause
        },
        ReplyMember("desired", as: .words(["live", "draining", "closed"])) { $0.desired },
        ReplyMember(
            "revision",
            "number of commands that changed something, from 1; the ETag consists of incarnation and revision",
            as: .range(1...Int64.max)
        ) { $0.revision },
        ReplyMember("incarnation", "number of this worker among the workers of the room") { $0.facts.incarnation },
        ReplyMember("time", "the worker's clock", as: .date) { ProgramDate.format($0.time) },
        ReplyMember("origin", "date-time of program time 0", as: .orNull(.date)) {
            $0.origin.map { ProgramDate.format($0) }
        },
        ReplyMember("program") { $0.program },
        ReplyMember("pk", as: .orNull(.named("PK"))) { $0.pk },
        ReplyMember("sources") { $0.facts.sources },
        ReplyMember("canvas") { CanvasReply(canvas: $0.facts.pipeline.canvas) },
        ReplyMember("renditions") { $0.renditions },
        ReplyMember("outputs", as: .list(.named("Output"))) { $0.outputs },
        ReplyMember("latency") { $0.latency },
        ReplyMember("alarms") { $0.alarms },
        ReplyMember("segments", "number published by this worker") { $0.facts.segments },
        ReplyMember("ticks") { $0.facts.stats },
        ReplyMember("backlog", "frames that wait to be encoded") { $0.facts.backlog },
        ReplyMember("overload") { $0.facts.overload },
        ReplyMember("disk", as: .orNull(.named("Disk"))) { $0.disk },
        ReplyMember("addresses", "addresses of the room's listeners", as: .map(.string)) {
            JSONValue.object($0.addresses.map { .init($0.name, .string($0.address)) })
        },
    ]
}

/// What is on air.
struct ProgramState: NamedReply {
    static let schemaName = "Program"

    let scene: String
    let scenes: [String]
    let tick: Int64
    let level: AudioLevels.Level?

    static let members: [ReplyMember<Self>] = [
        ReplyMember("scene", "sceneId of the scene on air") { $0.scene }, ReplyMember("scenes") { $0.scenes },
        ReplyMember("tick", "frames since the origin") { $0.tick }, ReplyMember("level") { $0.level },
    ]
}

/// The size and rate of the program's frames.
struct CanvasReply: NamedReply {
    static let schemaName = "Canvas"

    let canvas: Pipeline.Canvas

    static let members: [ReplyMember<Self>] = [
        ReplyMember("width") { $0.canvas.width }, ReplyMember("height") { $0.canvas.height },
        ReplyMember("fps") { $0.canvas.fps },
    ]
}
