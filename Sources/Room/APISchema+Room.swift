import Control
import MediaTypes
import RoomAPI
import RoomOutputs

/// Schemas of the room and its parts. Those without a Swift type are declared here.
extension APISchema {
    static let room: [APISchema] = [
        RoomReply.schema, ProgramState.schema, CanvasReply.schema, RenditionReply.schema, LatencyReply.schema,
        OverloadReply.schema, DiskState.Status.schema, OutputReply.schema,
        APISchema(
            "PK",
            .object([
                JSONField("phase", .words(["idle", "countdown", "pk", "punish"])),
                JSONField("scene", .string, "sceneId during the PK; its sources take part in the PK"),
                JSONField("countdownScene", .orNull(.string), "sceneId; null: the scene on air stays"),
                JSONField("punishScene", .string), JSONField("endScene", .string, "sceneId after the PK"),
                JSONField("endsAt", .orNull(.date), "when the phase ends"), JSONField("remainingMs", .orNull(.integer)),
            ])),
        APISchema(
            "RecordState",
            "stopping: the current segment is the last; suspended: stopped because the disk is full, continues when there is space",
            .words(["recording", "stopping", "suspended", "stopped"])),
    ]
}
