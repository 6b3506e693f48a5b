package import MediaTypes

/// Members that several events share, and the shapes of the objects in events.
extension EventDeclaration {
    static let uid = JSONField(
        "uid", .string, "The source: its uid, with the stream type if that is not main.", example: "1001")
    static let outputID = JSONField("outputId", .string, "The output.", example: "cdn")
    static let url = JSONField(
        "url", .string, "The server, without key and credentials.", example: "rtmp://live.example/app")
    static let rendition = JSONField("rendition", .string, "The rendition.", example: "720p")
    static let scene = JSONField("scene", .string, "The scene.", example: "pk")
    static let tick = JSONField("tick", .integer, "Frame of the program, counted from its origin.", example: 126)
    static let level = JSONField("level", .words(Self.levels), "Severity; normal: it has ended.")
    static let slate = JSONField("slate", .boolean, "Whether the segment shows the slate.", example: false)
    static let played = JSONField(
        "played", .boolean, "Whether viewers could play the room, also while an earlier worker served it.")
    static let onAir = JSONField("onAir", .boolean, "Whether the room continues, so that another recording may follow.")
    static let state = JSONField("state", .words(["set", "cleared"]), "Whether it has begun or ended.")
    static let mediaSequence = JSONField(
        "mediaSequence", .integer, "The segment's number in the playlists.", example: 42)
    static let fix = JSONField("fix", .string, "What to do.", example: "write the file again")
    static let retry = JSONField("retryMs", .count, "Milliseconds until the next attempt.", example: 1000)
    static let remote = JSONField("remote", .string, "The publisher's address.", example: "203.0.113.7:50122")
    static let picture = JSONField("picture", .string, "Size and pixel format.", example: "1280x720 yuv420p")
    static let streamType = JSONField("streamType", .words(["main", "sub"]), "Which stream of the uid.")

    static func reason(_ example: JSONValue) -> JSONField {
        JSONField("reason", .string, "Why, as a sentence.", example: example)
    }

    static func code(_ example: JSONValue) -> JSONField {
        JSONField("code", .string, "Error code: the guide on errors lists them.", example: example)
    }

    /// Names of the levels of alarms and of sources' health, the lowest first.
    package static let levels = HealthFinding.Level.allCases.map(\.name)

    /// Objects that events and API responses share, with the names of their schemas.
    package static let shapes: [(name: String, shape: JSONShape)] = [
        (AlarmReply.schemaName, AlarmReply.shape), ("Clip", Self.clip), ("Figures", Self.figures),
        (HealthFinding.schemaName, HealthFinding.shape),
        ("SoundLevel", .object(Self.audioLevel)), ("Ticks", Self.ticks), ("Recording", Self.recording),
        ("Summary", Self.summary),
    ]

    private static let clip = JSONShape.object([
        JSONField("id", .string, example: "clip-1-1"), JSONField("name", .string, example: "goal"),
        JSONField("state", .words(["pending", "working", "ready", "failed"])),
        JSONField("rendition", .string, example: "720p"), JSONField("from", .date, "first frame"),
        JSONField("to", .date, "end"), JSONField("path", .orNull(.string), example: "clips/goal.mp4"),
        JSONField("bytes", .orNull(.integer), example: 4_812_331), JSONField("sha256", .orNull(.string)),
        JSONField("durationMs", .orNull(.integer), example: 30_000),
        JSONField("segments", .orNull(.integer), example: 16),
        JSONField("reason", .orNull(.string), "why it failed", example: .null),
    ])

    private static let figures = JSONShape.object([
        JSONField("fps", .number, "frames per second", example: .thousandths(30_000)),
        JSONField("videoBitrate", .integer, "bit/s", example: 2_480_000),
        JSONField("gapMs", .integer, "longest time without a packet", example: 42),
        JSONField("skewMs", .integer, "offset between audio and video since the publication began", example: -3),
        JSONField("keyIntervalMs", .integer, example: 2000), JSONField("damaged", .integer, "packets", example: 0),
        JSONField(
            "sentFps", .orNull(.number), "frames per second of the publisher's own timestamps: what its encoder makes",
            example: .thousandths(30_000)),
        JSONField(
            "realtime", .orNull(.number), "seconds of media that arrive per second: what its network delivers",
            example: .thousandths(1_000)),
    ])

    static let audioLevel = [
        JSONField("peakDb", .number, "sample peak, dBFS", example: .thousandths(-6_100)),
        JSONField("loudness", .number, "of the last 3 s, LUFS", example: .thousandths(-18_400)),
        JSONField("momentary", .number, "of the last 0.4 s, LUFS", example: .thousandths(-17_900)),
    ]

    private static let ticks = JSONShape.object([
        JSONField("frames", .integer, "frames composed", example: 9000), JSONField("late", .integer, example: 0),
        JSONField("lost", .integer, example: 0),
        JSONField(
            "longestSwapUs", .integer, "longest duration of a change of scene or format on the program thread, in µs",
            example: 310),
        JSONField("repeated", .map(.integer), "repeated frames, by source"),
    ])

    private static let recording = JSONShape.object([
        JSONField("roomId", .string, example: "88231"), JSONField("start", .date),
        JSONField("durationMs", .integer, example: 600_000), JSONField("frames", .integer, example: 18_000),
        JSONField("complete", .boolean, "Whether no segment is missing."),
        JSONField(
            "incomplete",
            .orNull(
                .object([
                    JSONField("reason", .string), JSONField("missingSegments", .integer),
                    JSONField(
                        "covered",
                        .list(
                            .object([
                                JSONField("from", .date), JSONField("to", .date), JSONField("segments", .integer),
                            ]))),
                ])), "What is missing; null if nothing is.", example: .null),
        JSONField(
            "chapters",
            .list(
                .object([JSONField("startMs", .integer, example: 0), JSONField("title", .string, example: "pk")]))),
        JSONField(
            "files",
            .list(
                .object([
                    JSONField("name", .string, example: "program.mp4"),
                    JSONField("bytes", .integer, example: 96_311_040),
                    JSONField("sha256", .string),
                ])), "The files of the recording, without its segments."),
    ])

    private static let summary = JSONShape.object([
        JSONField("ticks", .named("Ticks")), JSONField("switches", .integer, "Scene switches.", example: 4),
        JSONField("segments", .integer, example: 150), JSONField("cpuSeconds", .number, example: .thousandths(81_250)),
        JSONField("peakMemoryMiB", .number, example: .thousandths(412_000)),
        JSONField(
            "latencyMs", .orNull(Self.percentiles(["p50", "p95"])), "From receiving media to publishing its segment."),
        JSONField(
            "partLatencyMs",
            .orNull(
                .object([
                    JSONField("parts", .integer), JSONField("p50", .number), JSONField("p99", .number),
                    JSONField("max", .number),
                ])), "From the last frame of a part entering its encoder to the part's publication."),
        JSONField(
            "sendToPartMs", .orNull(Self.percentiles(["p50", "p95", "p99"])),
            "From receiving media to publishing its part."),
        JSONField(
            "sources",
            .list(
                .object([
                    Self.uid, JSONField("shown", .integer, "Canvases composed with a pane of the source."),
                    JSONField("repeated", .integer, "How often a frame was shown again because no newer one was due."),
                    JSONField(
                        "lipSyncMs",
                        .orNull(
                            .object([
                                JSONField("events", .integer), JSONField("mean", .number), JSONField("min", .number),
                                JSONField("max", .number),
                            ])), "Audio against video of a test pattern; null without one.", example: .null),
                ]))),
    ])

    private static func percentiles(_ names: [String]) -> JSONShape {
        .object(names.map { JSONField($0, .integer, example: 1800) })
    }
}
