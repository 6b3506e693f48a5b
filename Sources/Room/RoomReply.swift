import Events
import HLS
import MediaTypes
import PipelineSpec
import Program
import RoomAPI
import RoomOutputs
import RoomScenes

/// The reply to `GET /v1/room`.
struct RoomReply: NamedReply {
    static let schemaName = "RoomState"

    let facts: RoomFacts
    /// Revision of the commanded state, from 1.
    let revision: Int64
    let status: RoomStatus
    let lifecycle: RoomLifecycle
    /// The worker's wall clock, in nanoseconds since the Unix epoch.
    let time: Int64
    let program: ProgramState
    let renditions: [RenditionReply]
    let latency: LatencyReply
    let alarms: [AlarmReply]
    /// State of the disk; nil before the first measurement.
    let disk: DiskState.Status?
    let outputs: [OutputReply]
    /// The PK; nil if the pipeline has no PK and no command has started one.
    let pk: PKReply?

    static let members: [ReplyMember<Self>] = [
        ReplyMember("roomId") { $0.facts.pipeline.room.roomID },
        ReplyMember("title") { $0.facts.pipeline.room.title },
        ReplyMember("state", as: .words(RoomFacts.states)) { $0.facts.phase },
        ReplyMember("since", "when the state began", as: .date) { ProgramDate.format($0.status.since) },
        ReplyMember("cause", "why it is recovering or degraded") { $0.status.phase.cause },
        ReplyMember("desired", as: .words(["live", "draining", "closed"])) { $0.lifecycle.state.desired },
        ReplyMember(
            "revision",
            "1 plus the number of commands that changed something; the ETag consists of incarnation and revision",
            as: .range(1...Int64.max)
        ) { $0.revision },
        ReplyMember("incarnation", "number of this worker among the workers of the room") { $0.facts.incarnation },
        ReplyMember("time", "the worker's clock", as: .date) { ProgramDate.format($0.time) },
        ReplyMember("origin", "date-time of program time 0", as: .orNull(.date)) {
            $0.lifecycle.origin.map { ProgramDate.format($0) }
        },
        ReplyMember("program") { $0.program },
        ReplyMember("pk") { $0.pk },
        ReplyMember("sources") { $0.facts.sources },
        ReplyMember("canvas") { CanvasReply(canvas: $0.facts.pipeline.canvas) },
        ReplyMember("renditions") { $0.renditions },
        ReplyMember("outputs") { $0.outputs },
        ReplyMember("latency") { $0.latency },
        ReplyMember("alarms") { $0.alarms },
        ReplyMember("segments", "number published by this worker") { $0.facts.segments },
        ReplyMember("ticks") { $0.facts.stats },
        ReplyMember("backlog", "frames that wait to be encoded") { $0.facts.backlog },
        ReplyMember("overload") { $0.facts.overload },
        ReplyMember("disk") { $0.disk },
        ReplyMember("addresses", "addresses of the room's listeners", as: .map(.string)) {
            JSONValue.object($0.lifecycle.addresses.map { .init($0.name, .string($0.address)) })
        },
    ]
}

/// The reply to `GET /v1/alarms`.
struct AlarmListReply: NamedReply {
    static let schemaName = "AlarmList"

    let alarms: [AlarmReply]

    static let members = [ReplyMember<Self>("alarms") { $0.alarms }]
}

/// The API's description of the program: the scene on air, all scenes, and the current tick.
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

/// The size and frame rate of the program.
struct CanvasReply: NamedReply {
    static let schemaName = "Canvas"

    let canvas: Pipeline.Canvas

    static let members: [ReplyMember<Self>] = [
        ReplyMember("width") { $0.canvas.width }, ReplyMember("height") { $0.canvas.height },
        ReplyMember("fps") { $0.canvas.fps },
    ]
}

extension RoomPhase.Cause: ReplyValue {}

extension Room.State {
    /// The state that the room is heading for, as `desired` in the API.
    fileprivate var desired: String {
        switch self {
        case .starting, .waiting, .live: "live"
        case .draining: "draining"
        case .ending, .closed: "closed"
        }
    }
}
