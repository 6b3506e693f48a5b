import Control
import MediaTypes
import RoomAPI
import RoomOutputs

/// Schemas of the room and its parts. Those without a Swift type are declared here.
extension APISchema {
    static let room: [APISchema] = [
        RoomReply.schema, ProgramState.schema, CanvasReply.schema, RenditionReply.schema, LatencyReply.schema,
        OverloadReply.schema, DiskState.Status.schema,
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
            "Output",
            .object([
                JSONField("outputId", .string), JSONField("type", .string),
                JSONField("playlist", .string, "hls: the multivariant playlist").optional,
                JSONField("lowLatency", .boolean, "hls only").optional,
                JSONField("target", .string, "http and s3: destination, without credentials").optional,
                JSONField(
                    "state", .string,
                    "rtmp: waiting, connecting, live, failed or stopped; http and s3: waiting, live or recovering; record: recording, stopping, suspended (disk full) or stopped"
                ).optional,
                JSONField(
                    "take", .orNull(.range(1...Int64.max)),
                    "record: number of the current recording, from 1; null: none"
                ).optional, JSONField("url", .string, "rtmp: destination, without the stream key").optional,
                JSONField("rendition", .string, "rtmp: name of the rendition that is sent").optional,
                JSONField(
                    "acknowledged", .orNull(.count),
                    "rtmp: bytes of this connection acknowledged by the server; null: it does not acknowledge"
                ).optional,
                JSONField("dropped", .count, "rtmp: packets dropped because the server was too slow").optional,
                JSONField("queuedMs", .count, "rtmp: queued media, in milliseconds").optional,
                JSONField("retries", .count, "rtmp: connection attempts after the first").optional,
                JSONField("lastError", .orNull(.string), "rtmp: why the last connection ended or failed")
                    .optional,
                JSONField(
                    "code", .orNull(.words(["outputUnreachable", "outputRefused", "outputWedged"])),
                    "rtmp: the same as a code"
                ).optional,
                JSONField("queuedSegments", .count, "http and s3: segments waiting to be uploaded").optional,
                JSONField("objects", .count, "http and s3: objects uploaded").optional,
                JSONField(
                    "bytes", .count, "rtmp: sent over all connections; http and s3: total size of the uploaded objects"
                )
                .optional, JSONField("failures", .count, "http and s3: failed attempts").optional,
                JSONField("lostSegments", .count, "http and s3: segments that could not be uploaded").optional,
            ])),
        APISchema(
            "RecordState",
            "stopping: the current segment is the last; suspended: stopped because the disk is full, continues when there is space",
            .words(["recording", "stopping", "suspended", "stopped"])),
    ]
}
