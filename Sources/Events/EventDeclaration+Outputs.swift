import MediaTypes

/// Declarations of the events about segments, outputs, the disk and recordings.
extension EventDeclaration {
    static let outputs: [EventDeclaration] = Self.segments + Self.disk + Self.destinations

    private static let segments: [EventDeclaration] = [
        EventDeclaration("broadcast.active", "Viewers can play: the first playlists are published.", [Self.slate]),
        EventDeclaration(
            "segment.published", "A segment was added to the playlists of all renditions that are awake.",
            [
                Self.mediaSequence, JSONField("firstTick", .integer, "Its first frame.", example: 2520),
                JSONField("ticks", .count, "Number of its frames.", example: 60),
                JSONField("bytes", .map(.count), "Its size in bytes, by rendition.", example: ["720p": 611_204]),
                Self.slate,
            ]),
        EventDeclaration(
            "segment.lost", "A segment could not be written; the playlists mark it as a gap.",
            [Self.mediaSequence, Self.tracks, Self.reason("no space left on device")]),
        EventDeclaration("playlist.ended", "The playlists were ended with EXT-X-ENDLIST."),
        EventDeclaration(
            "rendition.asleep",
            "Nobody watches a rendition with \"when\": \"watched\": it is not encoded from a frame on.",
            [Self.rendition, Self.tick]),
        EventDeclaration(
            "rendition.awake", "A rendition that slept is encoded again from a frame on.",
            [
                Self.rendition, Self.tick,
                JSONField(
                    "cause", .words(["playlist", "multivariant", "announced"]),
                    "What woke it: a request for its playlist or for the multivariant playlist, or a command."),
            ]),
        EventDeclaration(
            "output.filled", "A successor has filled the time since the previous worker stopped with slate.",
            [
                JSONField("reason", .words(["restart"])), Self.mediaSequence,
                JSONField(
                    "segments", .count, "Number of complete segments that contain slate, from `mediaSequence` on."),
                JSONField("firstTick", .integer, "The first frame.", example: 2520),
                JSONField("ticks", .integer, "Number of frames.", example: 60),
                JSONField("durationMs", .integer, "Milliseconds.", example: 2000),
                JSONField(
                    "discontinuity", .boolean, "Whether the playlists have a discontinuity there.", example: false),
            ]),
        EventDeclaration(
            "output.bandwidth",
            "A rendition exceeds the bit rate that its playlist declares by more than 10 %; once per declared rate.",
            [
                JSONField("track", .string, "The track.", example: "720p"),
                JSONField("measured", .integer, "Bit/s.", example: 3_100_000),
                JSONField("declared", .integer, "Bit/s.", example: 2_900_000),
            ]),
    ]

    private static let tracks = JSONField("tracks", .list(.string), "The tracks that lack it.", example: ["720p"])

    private static let disk: [EventDeclaration] = [
        EventDeclaration(
            "output.disk_low",
            "A disk or limits.maxDiskBytes is 80 or 95 % used, a write found no space, or there is space again.",
            [
                JSONField("level", .words(Self.levels), "The level now.", example: "alert_2"),
                JSONField("was", .words(Self.levels), "The level before."), Self.state,
                JSONField("percent", .integer, "How full it is.", example: 81),
                JSONField("threshold", .integer, "The threshold in percent.", example: 80),
                JSONField("usedBytes", .integer, example: 81_000_000_000),
                JSONField("maxBytes", .integer, example: 100_000_000_000),
                JSONField(
                    "path", .orNull(.string), "A directory on the disk; null: limits.maxDiskBytes.",
                    example: "/var/lib/tandem"),
                JSONField("freeBytes", .integer, example: 19_000_000_000),
                JSONField("stopped", .list(.words(["recording", "window", "clips"])), "What is stopped.", example: []),
                Self.reason("/var/lib/tandem: 19000000000 bytes are free of 100000000000"),
            ]),
        EventDeclaration(
            "output.stalled",
            "Segments cannot be written, for a reason other than a full disk, or can be written again.",
            [JSONField("level", .words(["normal", "alert_2"])), Self.state, Self.reason("a write takes 12 s")]),
        EventDeclaration(
            "output.window", "The number of segments kept on a full disk was limited, or is no longer limited.",
            [JSONField("segments", .orNull(.integer), "Number of segments kept; null: the whole window.", example: 6)]),
    ]

    private static let destinations: [EventDeclaration] = [
        Self.push("output.connecting", "An RTMP output is connecting to its server."),
        Self.push(
            "output.live", "An RTMP output is connected and sends media.", [JSONField("level", .words(["normal"]))]),
        EventDeclaration(
            "output.stopped",
            "An RTMP output has ended (then the event has url and rendition), or an operator has stopped a recording (then it has path).",
            [
                Self.outputID, Self.url.optional, Self.rendition.optional,
                JSONField("path", .string, "The directory of the recording.").optional, Self.reason("removed"),
            ]),
        EventDeclaration(
            "output.failed",
            "An output's files could not be made or written, its directory was replaced, or the connection of an RTMP output has failed; the room writes or connects again. Only the event of an RTMP output has url.",
            [
                Self.outputID.optional, Self.url.optional, Self.rendition.optional,
                JSONField("level", .words(["alert_2"])).optional,
                JSONField("code", .words(["outputUnreachable", "outputRefused", "outputWedged"]), "Error code.")
                    .optional,
                Self.reason("connection refused"), Self.retry.optional,
            ]),
        EventDeclaration("output.restarted", "An operator has restarted an RTMP output.", [Self.outputID]),
        EventDeclaration(
            "output.started", "An operator has started a recording.",
            [Self.outputID, JSONField("path", .string, "Its directory.", example: "/rec/88231.2")]),
        EventDeclaration(
            "output.unreachable", "An origin or bucket accepts no files, or accepts them again.",
            [
                Self.outputID, JSONField("level", .words(["normal", "alert_2"]), example: "alert_2"), Self.state,
                JSONField("code", .words(["outputUnreachable"]), "Error code.").optional,
                Self.reason("status 503").optional,
                JSONField("failures", .count, "Attempts that have failed.").optional,
                JSONField("durationMs", .count, "How long no file was accepted, in ms.").optional,
            ]),
        EventDeclaration(
            "output.lost", "A segment did not reach an origin or bucket.",
            [Self.outputID, Self.mediaSequence, Self.tracks, JSONField("listedAs", .words(["gap", "slate"]))]),
        EventDeclaration("output.finished", "An origin or bucket has received all files.", [Self.outputID]),
        EventDeclaration(
            "output.unfinished",
            "An origin or bucket has not received all files in time. The next worker sends them, unless `reason` says that this could not be recorded.",
            [Self.outputID, Self.reason("the store did not receive everything in time")]),
        EventDeclaration(
            "output.secretsRenewed", "The credentials of an origin or bucket were read again.", [Self.outputID]),
        Self.refused(
            "output.secretsRefused",
            "The new credentials of an origin or bucket cannot be read or are placeholders; the old ones stay in force.",
            [Self.outputID]),
    ]

    private static func push(_ type: String, _ meaning: String, _ others: [JSONField] = []) -> EventDeclaration {
        EventDeclaration(type, meaning, [Self.outputID, Self.url, Self.rendition] + others)
    }

    private static let path = JSONField("path", .string, "Directory of the recording.", example: "/rec/88231")

    static let recordings: [EventDeclaration] = [
        EventDeclaration(
            "recording.finishing", "The files of a recording are being created.", [Self.path, Self.onAir]),
        EventDeclaration(
            "recording.progress", "Progress of creating the files of a recording.",
            [
                JSONField("bytes", .integer, "Bytes written.", example: 48_155_520),
                JSONField("of", .integer, "Total bytes.", example: 96_311_040),
            ]),
        EventDeclaration(
            "recording.ready", "The files of a recording are complete.",
            [Self.path, Self.onAir, JSONField("recording", .named("Recording"), "The files.")]),
        EventDeclaration(
            "recording.failed", "The files of a recording cannot be created.",
            [Self.path, Self.onAir, Self.reason("no space left on device")]),
        EventDeclaration(
            "recording.unfinished", "A later worker will create the files of a recording.",
            [Self.path.optional, Self.onAir.optional, Self.reason("the worker had to stop")]),
        EventDeclaration(
            "recording.stopped", "The recording has stopped because its disk is nearly full or a write has failed.",
            [Self.reason("the disk is full")]),
        EventDeclaration(
            "recording.resumed", "A stopped recording continues; the segments since the stop are missing."),
        EventDeclaration("clip.ready", "A clip is ready.", [JSONField("clip", .named("Clip"), "The clip.")]),
        EventDeclaration(
            "clip.failed", "A clip could not be created.", [JSONField("clip", .named("Clip"), "The clip.")]),
    ]
}
