import Control
import MediaTypes

/// The room, and what belongs to it. What has no type of its own is declared here.
extension APISchema {
    static let room: [APISchema] = [
        RoomReply.schema, ProgramState.schema, CanvasReply.schema, RenditionReply.schema, LatencyReply.schema,
        APISchema(
            "PK",
            .object([
                JSONField("phase", .words(["idle", "countdown", "pk", "punish"])),
                JSONField("scene", .string, "sceneId of the PK; its sources are those of the PK"),
                JSONField("countdownScene", .orNull(.string), "null: the scene on air stays"),
                JSONField("punishScene", .string), JSONField("endScene", .string, "sceneId after all"),
                JSONField("endsAt", .orNull(.date), "end of the phase"), JSONField("remainingMs", .orNull(.integer)),
            ])),
        APISchema(
            "Disk",
            .object([
                JSONField("level", .words(["normal", "alert_2", "alert_3"])), JSONField("percent", .integer),
                JSONField("usedBytes", .integer), JSONField("maxBytes", .integer),
                JSONField(
                    "path", .orNull(.string), "a directory on the fullest file system; null: limits.maxDiskBytes"),
                JSONField("freeBytes", .integer),
                JSONField(
                    "stopped", .list(.words(["recording", "window", "clips"])), "what is given up for want of space"),
                JSONField("message", .string),
            ])),
        APISchema("Overload", .object([JSONField("lagMs", .integer), JSONField("steps", .list(.string))])),
        APISchema(
            "Output",
            .object([
                JSONField("outputId", .string), JSONField("type", .string),
                JSONField("playlist", .string, "of hls: the multivariant playlist").optional,
                JSONField("lowLatency", .boolean, "of hls").optional,
                JSONField("target", .string, "of http and s3: where it goes, without credentials").optional,
                JSONField(
                    "state", .string,
                    "of rtmp: waiting, connecting, live, failed or stopped; of http and s3: waiting, live or recovering; of record: recording, stopping, suspended (by the disk) or stopped"
                ).optional,
                JSONField(
                    "take", .orNull(.range(1...Int64.max)),
                    "of record: which one is recorded, counted from 1; null: none"
                ).optional, JSONField("url", .string, "of rtmp: where it goes, without its key").optional,
                JSONField("rendition", .string, "of rtmp: which one is sent").optional,
                JSONField(
                    "acknowledged", .orNull(.count),
                    "of rtmp: bytes of this connection that the server has acknowledged; null: it acknowledges none"
                ).optional, JSONField("dropped", .count, "of rtmp: packets that the server was too slow for").optional,
                JSONField("queuedMs", .count, "of rtmp: media that waits, in milliseconds").optional,
                JSONField("retries", .count, "of rtmp: attempts after the first").optional,
                JSONField("lastError", .orNull(.string), "of rtmp: why the last connection ended, or was none")
                    .optional,
                JSONField(
                    "code", .orNull(.words(["outputUnreachable", "outputRefused", "outputWedged"])),
                    "of rtmp: the same in a word of the catalogue"
                ).optional, JSONField("queuedSegments", .count, "of http and s3").optional,
                JSONField("objects", .count, "of http and s3: taken by the store").optional,
                JSONField("bytes", .count, "of rtmp: sent over all connections; of http and s3: of the objects")
                    .optional, JSONField("failures", .count, "of http and s3: attempts").optional,
                JSONField("lostSegments", .count, "of http and s3: given up").optional,
            ])),
        APISchema(
            "RecordState",
            "stopping: the segment that is on air is the last; suspended: the disk has stopped it, and it goes on when there is room",
            .words(["recording", "stopping", "suspended", "stopped"])),
    ]
}
