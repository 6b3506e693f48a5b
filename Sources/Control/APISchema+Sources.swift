import MediaTypes

/// Schemas of sources and their statistics.
extension APISchema {
    static let sources: [APISchema] = [
        APISchema(
            "Source",
            .object([
                JSONField("uid", .string), JSONField("streamType", .words(["main", "sub"])),
                JSONField("name", .orNull(.string)),
                JSONField(
                    "state",
                    .words([
                        "idle", "connected", "publishing", "live", "stalled", "lost", "reconnecting", "gone", "ended",
                    ])), JSONField("picture", .orNull(.string), "size and frame rate last decoded"),
                JSONField("videoCodec", .orNull(.string)),
                JSONField(
                    "audioTracks",
                    .list(
                        .object([
                            JSONField("track", .integer), JSONField("codec", .orNull(.string)),
                            JSONField("volume", .integer, "percent"),
                        ]))), JSONField("videoPackets", .integer), JSONField("audioPackets", .integer),
                JSONField("damaged", .integer, "packets that could not be decoded"),
                JSONField("reopened", .integer, "how often a decoder was reopened"),
                JSONField("dropped", .integer, "frames dropped"), JSONField("shown", .integer, "frames shown"),
                JSONField("repeated", .integer, "how often a frame was shown again because no newer one was due"),
                JSONField("reconnects", .integer), JSONField("lastError", .orNull(.string)),
                JSONField("volume", .integer, "percent, as last set; a pane can have its own volume"),
                JSONField("audioPush", .boolean, "audible"), JSONField("videoPush", .boolean, "visible"),
                JSONField("relays", .list(.named("Relay"))), JSONField("level", .orNull(.named("SoundLevel"))),
                JSONField("refused", .orNull(.named("Refusal"))), JSONField("health", .named("Health")),
                JSONField("figures", .named("Figures")),
                JSONField("driftPpm", .orNull(.integer), "its clock compared to the worker's"),
                JSONField("bufferMs", .orNull(.integer), "buffered media, in milliseconds"),
                JSONField("clock", .words(["wall", "arrival"])), JSONField("wallMs", .integer),
                JSONField("reanchors", .integer),
                JSONField(
                    "thinned", .integer, "frames left out because the source has a higher frame rate than the program"),
                JSONField("undecoded", .integer, "packets not decoded because the source was not visible"),
            ])),
        APISchema(
            "Refusal",
            .object([
                JSONField("reason", .words(["kicked", "quarantined"])),
                JSONField("until", .date, "when it may publish again"),
            ])),
        APISchema(
            "Relay",
            .object([
                JSONField("id", .string), JSONField("url", .string, "without the stream key"),
                JSONField("state", .words(["waiting", "connecting", "live", "failed", "stopped"])),
                JSONField("bytes", .integer), JSONField("dropped", .integer, "packets dropped"),
                JSONField("retries", .integer),
                JSONField("lastError", .orNull(.string)),
            ])),
        APISchema(
            "Health",
            .object([
                JSONField("level", .words(["normal", "alert_1", "alert_2", "alert_3"])),
                JSONField(
                    "causes",
                    .list(
                        .words([
                            "fps", "gap", "network", "bitrate", "skew", "keyInterval", "jitterBuffer", "decodeErrors",
                            "workerLag", "absent",
                        ])), "causes of any level, the worst first"),
                JSONField(
                    "findings", .list(.named("Finding")), "the causes, each with its level and the measured value"),
            ])),
        APISchema(
            "Statistics",
            .object([
                JSONField("level", .words(["standard", "debug"])), JSONField("tick", .integer),
                JSONField("ticks", .named("Ticks")), JSONField("sources", .list(.named("SourceStatistics"))),
                JSONField("backlog", .integer, "level debug only").optional,
                JSONField("overload", .named("Overload")).optional,
            ])),
        APISchema(
            "SourceStatistics",
            .object([
                JSONField("uid", .string), JSONField("streamType", .words(["main", "sub"])),
                JSONField(
                    "state",
                    .words([
                        "idle", "connected", "publishing", "live", "stalled", "lost", "reconnecting", "gone", "ended",
                    ])), JSONField("picture", .orNull(.string)), JSONField("bytes", .orNull(.integer)),
                JSONField("videoPackets", .integer), JSONField("audioPackets", .integer),
                JSONField("keyFrames", .integer), JSONField("health", .named("Health")),
                JSONField("figures", .named("Figures")), JSONField("shown", .integer), JSONField("repeated", .integer),
                JSONField("dropped", .integer), JSONField("damaged", .integer),
                JSONField("driftPpm", .orNull(.integer)), JSONField("bufferMs", .orNull(.integer)),
                JSONField("reopened", .integer).optional, JSONField("thinned", .integer).optional,
                JSONField("undecoded", .integer).optional, JSONField("reanchors", .integer).optional,
                JSONField("lastReanchor", .orNull(.string)).optional,
                JSONField("clock", .words(["wall", "arrival"])).optional, JSONField("wallMs", .integer).optional,
                JSONField(
                    "decode",
                    .object([
                        JSONField("pictures", .integer), JSONField("p50Us", .orNull(.integer)),
                        JSONField("p95Us", .orNull(.integer)),
                    ])
                ).optional, JSONField("publications", .integer).optional, JSONField("publishing", .boolean).optional,
                JSONField("silenceMs", .orNull(.integer)).optional, JSONField("quirks", .string).optional,
                JSONField(
                    "demuxed",
                    .object([
                        JSONField("short", .integer), JSONField("empty", .integer), JSONField("malformed", .integer),
                        JSONField("sanitized", .integer), JSONField("badConfigurations", .integer),
                        JSONField("beforeConfiguration", .integer), JSONField("badCompositionOffsets", .integer),
                        JSONField("unsupported", .integer), JSONField("extraTracks", .integer),
                        JSONField("badHeaders", .integer),
                    ])
                ).optional,
            ])),
    ]
}
