import MediaTypes

/// Declarations of the events about the room, its document, its program and its PK.
extension EventDeclaration {
    private static let states = [
        "starting", "waiting", "preparing", "live", "recovering", "degraded", "ending", "draining", "failed", "closed",
    ]

    static let room: [EventDeclaration] = [
        EventDeclaration(
            "room.ready", "The room is ready: its listeners are open.",
            [
                JSONField("rtmp", .orNull(.string), "Address of the RTMP listener.", example: "rtmp://127.0.0.1:1935"),
                JSONField("rtmps", .orNull(.string), "Address of the RTMPS listener.", example: .null),
                JSONField("srt", .orNull(.string), "Address of the SRT listener.", example: .null),
                JSONField("whip", .orNull(.string), "URL of the WHIP endpoint for WebRTC publishers.", example: .null),
                JSONField("viewer", .orNull(.string), "Address for viewers.", example: "http://127.0.0.1:8080"),
                JSONField("whep", .orNull(.string), "URL of the WHEP endpoint for WebRTC viewers.", example: .null),
                JSONField(
                    "playlist", .orNull(.string), "URL of the multivariant playlist.",
                    example: "http://127.0.0.1:8080/index.m3u8"),
                JSONField("control", .orNull(.string), "Address of the control API.", example: "http://127.0.0.1:8081"),
                JSONField(
                    "allInterfaces", .list(.string),
                    "Names of the listeners on every address of this machine (0.0.0.0 or ::). Their addresses in this event are for clients on this machine; others use the machine's name or address.",
                    example: ["rtmp", "viewer"]),
                Self.scene, Self.played,
            ]),
        EventDeclaration(
            "room.state", "The state of the room has changed.",
            [
                JSONField("from", .words(Self.states), "The state before.", example: "preparing"),
                JSONField("to", .words(Self.states), "The state now.", example: "live"),
                JSONField(
                    "cause", .orNull(.words(["media", "output", "overload"])), "Why it is recovering or degraded.",
                    example: .null),
                JSONField("code", .orNull(.string), "Error code of a room that has failed.", example: .null),
                JSONField("reason", .orNull(.string), "Why it has failed.", example: .null),
            ]),
        EventDeclaration(
            "room.resumed", "This worker continues with the commands given to the previous worker.",
            [
                JSONField("restored", .list(.string), "What was restored.", example: ["sources[1001].volume"]),
                JSONField(
                    "notRestored",
                    .list(
                        .object([
                            JSONField("member", .string, example: "scenes[pk]"),
                            JSONField("reason", .string, example: "the scene shows a source that the room has not"),
                        ])), "What was not restored, and why."),
                JSONField(
                    "reduced", .boolean, "Whether only covers, mutes, kicks, the document and the PK are restored.",
                    example: false),
            ]),
        EventDeclaration(
            "room.changed", "The room uses another version of its document.",
            [
                JSONField("revision", .integer, "The document's revision.", example: 8),
                JSONField("applied", .list(.string), "JSON paths that have changed.", example: ["watermarks"]),
            ]),
        Self.end(
            "room.ending",
            "The room is ending, or this worker has failed. The playlists are closed with `EXT-X-ENDLIST` only if the room ends."
        ),
        Self.end("room.draining", "This worker stops, and the playlists stay open for a successor."),
        EventDeclaration("room.superseded", "A newer worker serves the room; this one stops."),
        EventDeclaration(
            "room.closed",
            "The room is closed; viewers may still be served, and webhook deliveries may be in progress.",
            [
                JSONField("outcome", .words(["ended", "damaged", "drained", "superseded", "failed"])),
                JSONField("reason", .orNull(.string), "Why the room failed.", example: .null),
                JSONField("code", .orNull(.string), "Error code.", example: .null),
                Self.played,
                JSONField(
                    "recording", .orNull(.words(["ready", "unfinished", "failed"])), "Result of the recording."
                ).optional,
                JSONField("unfinished", .orNull(.string), "What another worker has to finish.").optional,
                JSONField("lostSegments", .count, "Segments that could not be written.").optional,
                JSONField("damage", .list(.string), "What else was lost, as sentences.").optional,
                JSONField("summary", .named("Summary"), "Statistics of the room.").optional,
            ]),
        EventDeclaration(
            "room.settled",
            "Another worker has finished the remaining work. The incarnation is that of the worker that closed the room.",
            [JSONField("outcome", .words(["ended"]))]),
    ]

    private static func end(_ type: String, _ meaning: String) -> EventDeclaration {
        EventDeclaration(
            type, meaning,
            [
                Self.reason("control"), JSONField("code", .orNull(.string), "Error code.", example: .null), Self.played,
            ])
    }

    static let program: [EventDeclaration] = [
        EventDeclaration(
            "program.started", "The program has started: this worker composes frames from `firstTick` on.",
            [
                JSONField("origin", .date, "Program time zero."),
                JSONField("firstTick", .integer, "The first frame of this worker.", example: 0),
            ]),
        EventDeclaration(
            "program.scene", "A scene goes on air or is scheduled, or the scene on air has changed.",
            [
                Self.scene, JSONField("tick", .orNull(.integer), "Its first frame.", example: 126),
                JSONField("appliesAt", .orNull(.date), "Program date-time of that frame."),
                JSONField(
                    "reason", .string, "What caused it: command, another event's type, or a sentence about sources.",
                    example: "command"),
                JSONField("without", .list(.string), "Sources of the scene that are not shown.", example: []),
            ]),
        EventDeclaration(
            "program.failed",
            "A scene for the loss of a source, a PK phase or a restored command cannot be composed; the previous one stays.",
            [Self.scene, Self.reason("the image is missing. Write it there again")]),
        EventDeclaration(
            "scene.changed", "A scene was added or replaced.",
            [Self.scene, JSONField("revision", .integer, "The scene's revision.", example: 5)]),
        EventDeclaration("scene.removed", "A scene was deleted.", [Self.scene]),
        EventDeclaration(
            "scene.layout", "An automatic scene shows other sources.",
            [
                Self.scene, JSONField("live", .list(.string), "The uids that it shows.", example: ["1001", "1002"]),
                Self.tick,
            ]),
        EventDeclaration(
            "pk.ready", "Every source of the PK is live.",
            [JSONField("scene", .orNull(.string), "The scene of the PK.", example: "pk")]),
        Self.phase("pk.countdown", "The countdown before a PK has begun."),
        Self.phase("pk.started", "The PK has begun."),
        Self.phase("pk.punish", "The punishment phase of the PK has begun."),
        Self.phase("pk.ended", "The PK has ended, in whichever phase it was."),
        EventDeclaration(
            "metadata.taken", "An event for viewers was assigned to a frame.",
            [
                JSONField("id", .string, "The event's id.", example: "gift-17"),
                JSONField("kind", .string, "The event's type.", example: "gift"), Self.tick,
                JSONField("state", .boolean, "Whether it applies until another event of its type.", example: false),
            ]),
        EventDeclaration(
            "overlay.started", "The first frame of a play of an overlay is on air.",
            Self.overlay + [JSONField("tick", .integer, "Its first frame of the program.", example: 126)]),
        EventDeclaration(
            "overlay.ended", "A play of an overlay has ended, or was given up before it began.",
            Self.overlay + [
                JSONField(
                    "tick", .orNull(.integer), "The first frame of the program without it; null: it never began.",
                    example: 216),
                JSONField(
                    "reason", .words(["played", "failed", "overload", "closed"]),
                    "Why: it was played to its end, its file could not be played, the machine is overloaded, or the program has ended."
                ),
                JSONField(
                    "error", .orNull(.string), "What is wrong with the file.",
                    example: "overlay[rose]: cannot open gifts/rose.webm"),
            ]),
        EventDeclaration(
            "audio.levels", "Audio levels of the program and each source, every audio.levelIntervalMs.",
            [
                JSONField("program", .named("SoundLevel"), "The program."),
                JSONField("sources", .list(.object([Self.uid] + Self.audioLevel)), "Each source, before its volume."),
            ]),
        EventDeclaration(
            "audio.speaking",
            "A source has begun or stopped speaking, as heard in the program; only with audio.speaking.",
            [
                Self.uid,
                JSONField("speaking", .boolean, "Whether it speaks now.", example: true),
                JSONField(
                    "at", .orNull(.date),
                    "Program date-time of the first or last sound, which is before the event: 0.2 s of sound begin it, 0.8 s of quiet end it."
                ),
            ]),
    ]

    private static let overlay = [
        JSONField("overlay", .string, "Name of the overlay.", example: "rose"),
        JSONField("playId", .integer, "Number of the play in this worker, from 1.", example: 7),
    ]

    private static func phase(_ type: String, _ meaning: String) -> EventDeclaration {
        let phases = JSONShape.words(["idle", "countdown", "pk", "punish"])
        return EventDeclaration(
            type, meaning,
            [
                JSONField("phase", phases, "The phase now.", example: "pk"),
                JSONField("from", phases, "The phase before.", example: "countdown"),
                JSONField("at", .orNull(.date), "Program date-time of the change."),
                JSONField(
                    "endsAt", .orNull(.date),
                    "Program date-time at which the phase ends; null: a command ends it, or no phase follows."),
                JSONField(
                    "reason", .orNull(.words(["timer", "command", "sourceLost"])), "Only in pk.ended: why the PK ended."
                ),
                JSONField("uid", .orNull(.string), "The source that was lost.", example: .null),
            ])
    }
}
