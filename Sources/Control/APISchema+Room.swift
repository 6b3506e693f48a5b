import MediaTypes

/// Schemas of the room and its parts.
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
                    "number of commands that changed something, from 1; the ETag consists of incarnation and revision"),
                JSONField("incarnation", .integer, "number of this worker among the workers of the room"),
                JSONField("time", .date, "the worker's clock"),
                JSONField("origin", .orNull(.date), "date-time of program time 0"),
                JSONField("program", .named("Program")), JSONField("pk", .orNull(.named("PK"))),
                JSONField("sources", .list(.named("Source"))), JSONField("canvas", .named("Canvas")),
                JSONField("renditions", .list(.named("Rendition"))), JSONField("outputs", .list(.named("Output"))),
                JSONField("latency", .named("Latency")), JSONField("alarms", .list(.named("Alarm"))),
                JSONField("segments", .integer, "number published by this worker"), JSONField("ticks", .named("Ticks")),
                JSONField("backlog", .integer, "frames that wait to be encoded"),
                JSONField("overload", .named("Overload")), JSONField("disk", .orNull(.named("Disk"))),
                JSONField("addresses", .map(.string), "addresses of the room's listeners"),
            ])),
        APISchema(
            "Program",
            .object([
                JSONField("scene", .string, "sceneId of the scene on air"), JSONField("scenes", .list(.string)),
                JSONField("tick", .integer, "frames since the origin"),
                JSONField("level", .orNull(.named("SoundLevel"))),
            ])),
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
                    "stopped", .list(.words(["recording", "window", "clips"])),
                    "what has been stopped or reduced to save space"),
                JSONField("message", .string),
            ])),
        APISchema("Overload", .object([JSONField("lagMs", .integer), JSONField("steps", .list(.string))])),
        APISchema(
            "Latency",
            .object([
                JSONField(
                    "program",
                    .object([
                        JSONField("lagMs", .integer, "how far the program is behind its clock"),
                        JSONField("limitMs", .integer, "overload.maxLagMs"),
                    ])),
                JSONField(
                    "sendToPart",
                    .orNull(
                        .object([
                            JSONField("p50Ms", .integer), JSONField("p95Ms", .integer), JSONField("p99Ms", .integer),
                            JSONField(
                                "limitMs", .integer,
                                "jitter buffer, plus a part or segment, plus overload.maxLagMs, as configured"
                            ),
                        ])), "from the arrival of a frame until its part is available"),
                JSONField(
                    "sendToSegment",
                    .orNull(
                        .object([
                            JSONField("p50Ms", .integer), JSONField("p95Ms", .integer),
                            JSONField(
                                "limitMs", .integer,
                                "jitter buffer, plus a part or segment, plus overload.maxLagMs, as configured"
                            ),
                        ])), "from the arrival of a frame until its segment is available"),
                JSONField(
                    "partEncode",
                    .orNull(
                        .object([
                            JSONField("p50Ms", .number), JSONField("p99Ms", .number), JSONField("maxMs", .number),
                            JSONField("limitMs", .integer, "duration of a part"),
                        ])), "from the last frame of a part entering the encoder until the part is available"),
            ])),
        APISchema(
            "Rendition",
            .object([
                JSONField("name", .string), JSONField("width", .orNull(.integer)),
                JSONField("height", .orNull(.integer)), JSONField("fps", .orNull(.integer)),
                JSONField("codec", .orNull(.string)),
                JSONField("bitrate", .orNull(.integer), "bit/s, target of the encoder"),
                JSONField("maxBitrate", .orNull(.integer), "bit/s, limit of the encoder"),
                JSONField("measuredBitrate", .orNull(.integer), "bit/s, measured over the last segment"),
                JSONField(
                    "passthrough",
                    .orNull(
                        .object([
                            JSONField("uid", .orNull(.string)),
                            JSONField("reason", .orNull(.string), "why the source is not passed through"),
                        ]))),
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
