import MediaTypes

/// The room, and what belongs to it.
extension APISchema {
    static let room: [APISchema] = [
        APISchema(
            "RoomState",
            .object([
                JSONField("roomId", .string), JSONField("title", .orNull(.string)),
                JSONField(
                    "state",
                    .words([
                        "starting", "waiting", "preparing", "live", "recovering", "degraded", "ending", "draining",
                        "failed", "closed",
                    ])), JSONField("since", .date, "when the state began"),
                JSONField(
                    "cause", .orNull(.words(["media", "output", "overload"])), "why it is recovering or degraded"),
                JSONField("desired", .words(["live", "draining", "closed"])),
                JSONField(
                    "revision", .range(1...Int64.max),
                    "commands that changed something, from 1; with the incarnation it is the ETag"),
                JSONField("incarnation", .integer, "which worker of the room this is"),
                JSONField("time", .date, "the worker's clock"), JSONField("origin", .orNull(.date), "program time 0"),
                JSONField("program", .named("Program")), JSONField("pk", .orNull(.named("PK"))),
                JSONField("sources", .list(.named("Source"))), JSONField("canvas", .named("Canvas")),
                JSONField("renditions", .list(.named("Rendition"))), JSONField("outputs", .list(.named("Output"))),
                JSONField("latency", .named("Latency")), JSONField("alarms", .list(.named("Alarm"))),
                JSONField("segments", .integer, "published by this worker"), JSONField("ticks", .named("Ticks")),
                JSONField("backlog", .integer, "pictures that wait to be encoded"),
                JSONField("overload", .named("Overload")), JSONField("disk", .orNull(.named("Disk"))),
                JSONField("addresses", .map(.string), "of the room's listeners"),
            ])),
        APISchema(
            "Program",
            .object([
                JSONField("scene", .string, "on air"), JSONField("scenes", .list(.string)),
                JSONField("tick", .integer, "pictures since the origin"),
                JSONField("level", .orNull(.named("SoundLevel"))),
            ])),
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
            "Canvas",
            .object([JSONField("width", .integer), JSONField("height", .integer), JSONField("fps", .integer)])),
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
            "Latency",
            .object([
                JSONField(
                    "program",
                    .object([
                        JSONField("lagMs", .integer, "how far the pictures are behind their clock"),
                        JSONField("limitMs", .integer, "overload.maxLagMs"),
                    ])),
                JSONField(
                    "sendToPart",
                    .orNull(
                        .object([
                            JSONField("p50Ms", .integer), JSONField("p95Ms", .integer), JSONField("p99Ms", .integer),
                            JSONField(
                                "limitMs", .integer,
                                "by the pipeline's own figures: jitter buffer, a part or segment, and overload.maxLagMs"
                            ),
                        ])), "from a picture's arrival to its part being there"),
                JSONField(
                    "sendToSegment",
                    .orNull(
                        .object([
                            JSONField("p50Ms", .integer), JSONField("p95Ms", .integer),
                            JSONField(
                                "limitMs", .integer,
                                "by the pipeline's own figures: jitter buffer, a part or segment, and overload.maxLagMs"
                            ),
                        ])), "the same to its segment"),
                JSONField(
                    "partEncode",
                    .orNull(
                        .object([
                            JSONField("p50Ms", .number), JSONField("p99Ms", .number), JSONField("maxMs", .number),
                            JSONField("limitMs", .integer, "a part's own duration"),
                        ])), "from the last picture of a part entering its encoder to the part being there"),
            ])),
        APISchema(
            "Rendition",
            .object([
                JSONField("name", .string), JSONField("width", .orNull(.integer)),
                JSONField("height", .orNull(.integer)), JSONField("fps", .orNull(.integer)),
                JSONField("codec", .orNull(.string)),
                JSONField("bitrate", .orNull(.integer), "bit/s asked of the encoder"),
                JSONField("maxBitrate", .orNull(.integer), "bit/s"),
                JSONField("measuredBitrate", .orNull(.integer), "bit/s of the last segment"),
                JSONField(
                    "passthrough",
                    .orNull(
                        .object([
                            JSONField("uid", .orNull(.string)),
                            JSONField("reason", .orNull(.string), "why not, where it is not"),
                        ]))),
            ])),
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
