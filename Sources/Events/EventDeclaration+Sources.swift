import MediaTypes

/// Declarations of the events about sources: publishers, pulled streams, files and relays.
extension EventDeclaration {
    static let sources: [EventDeclaration] =
        Self.sourceStates + Self.sourceMedia + Self.ingest + Self.connections
        + Self.ownRecordings

    private static let sourceStates: [EventDeclaration] = [
        Self.state("source.connected", "A publisher was accepted; none of its media has arrived yet."),
        Self.state("source.publishing", "The first media of a publisher has arrived; no frame is decoded yet."),
        Self.state(
            "source.live", "A source is live: a frame or audio was decoded, or media arrives again after a stall."),
        Self.state("source.stalled", "A publisher that is still connected sends nothing."),
        Self.state(
            "source.lost",
            "A publisher has disconnected. Then source.reconnecting follows, or source.lost_final if ingest.rtmp.reconnectGraceMs is 0."
        ),
        Self.state(
            "source.reconnecting",
            "Either a publisher has disconnected and the room waits for it until graceUntil, or a new connection has taken its source over; reason says which."
        ),
        Self.state("source.lost_final", "The room no longer waits for a publisher."),
        Self.state("source.ended", "A file source has reached its end."),
    ]

    private static func state(_ type: String, _ meaning: String) -> EventDeclaration {
        let states = JSONShape.words([
            "idle", "connected", "publishing", "live", "stalled", "lost", "reconnecting", "gone", "ended",
        ])
        let name = String(type.dropFirst("source.".count))
        return EventDeclaration(
            type, meaning,
            [
                Self.uid,
                JSONField("state", states, "The state now.", example: .string(name == "lost_final" ? "gone" : name)),
                JSONField("from", states, "The state before.", example: "publishing"), Self.reason("first frame"),
                JSONField(
                    "picture", .orNull(.string), "Size and pixel format of a source that is live.",
                    example: name == "live" ? "1280x720 yuv420p" : .null),
                JSONField(
                    "graceUntil", .orNull(.date),
                    "In source.reconnecting after a disconnect: program date-time until which the room waits for the publisher; otherwise null.",
                    example: name == "reconnecting" ? nil : .null),
                JSONField(
                    "playable", .orNull(.boolean), "For a live source: whether viewers can play the room.",
                    example: name == "live" ? true : .null),
            ])
    }

    private static let sourceMedia: [EventDeclaration] = [
        EventDeclaration(
            "source.first_frame", "The first frame of a publication was decoded.",
            [
                Self.uid, Self.picture,
                JSONField(
                    "sinceKeyFrameMs", .orNull(.integer), "Milliseconds since its first key frame arrived.", example: 35
                ),
            ]),
        EventDeclaration("source.sound", "The first audio of a publication was decoded.", [Self.uid]),
        EventDeclaration(
            "source.noise_suppression",
            "The noise suppression of a source has failed, was suspended because the machine is overloaded, or has resumed.",
            [
                Self.uid,
                JSONField("state", .words(["suspended", "resumed", "failed"]), "What has happened."),
                Self.reason("the machine is overloaded"),
            ]),
        EventDeclaration(
            "source.format", "The format of a source's frames, such as their size, has changed.",
            [Self.uid, Self.picture]),
        EventDeclaration(
            "source.reanchored",
            "The timestamps of a source were mapped to program time anew. At most three events at once, then one per second.",
            [
                Self.uid,
                JSONField(
                    "reason", .orNull(.string),
                    "Why: jump (of the timestamps), late or jitter (packets came too late), "
                        + "excess or settled (shown later than needed), wall (aligned by wall clock).",
                    example: "jump"),
                JSONField("count", .count, "New mappings since the previous event."),
            ]),
        EventDeclaration(
            "source.undecodable",
            "The video or an audio track of a source cannot be decoded; its other tracks continue.",
            [Self.uid, Self.reason("unsupported codec vp6"), Self.code("unsupportedCodec")]),
        EventDeclaration(
            "source.failed", "A file source cannot be read.", [Self.uid, Self.reason("no such file")]),
        EventDeclaration(
            "source.health", "The health level of a source has changed.",
            [
                Self.uid, JSONField("level", .words(Self.levels), "The level now.", example: "alert_1"),
                JSONField("was", .words(Self.levels), "The level before."),
                JSONField("causes", [HealthFinding.Cause].replyShape, "The causes of every level, the worst first."),
                JSONField(
                    "findings", [HealthFinding].replyShape, "The causes, each with its level and what was measured."),
                JSONField("figures", .named("Figures"), "What was measured."),
            ]),
        EventDeclaration(
            "source.added", "A source was added to the running room.",
            [Self.uid, Self.streamType, JSONField("name", .orNull(.string), "Its name.", example: "Anna")]),
        EventDeclaration(
            "source.removed", "A source was removed from the room.",
            [Self.uid, Self.streamType, JSONField("wasPublishing", .boolean, "Whether a publisher was disconnected.")]),
        EventDeclaration(
            "source.changed",
            "A command or an answer of the moderation webhook has set a source's settings. Members that it did not set are null.",
            [
                JSONField("uid", .string, "The source's uid.", example: "1001"), Self.streamType,
                JSONField("volume", .orNull(.integer), "Volume, in percent.", example: 80),
                JSONField(
                    "audioTrack", .orNull(.integer), "The audio track of volume; null: all audio.", example: .null),
                JSONField("audioPush", .orNull(.boolean), "Whether it is audible.", example: .null),
                JSONField("videoPush", .orNull(.boolean), "Whether it is visible.", example: .null),
                JSONField(
                    "offsetMs", .orNull(.integer), "Shift of all its tracks, in ms; positive: later.", example: .null),
                JSONField("rotation", .orNull(.integer), "Rotation, in degrees clockwise.", example: .null),
            ]),
        EventDeclaration(
            "source.kicked",
            "A source was kicked: its publisher was disconnected, and publishers are refused for refuseSeconds; 0 lifts a refusal.",
            [
                Self.uid, JSONField("wasPublishing", .boolean, "Whether a publisher was connected."),
                JSONField("refuseSeconds", .count, "Seconds for which publishers are refused.", example: 60),
            ]),
        EventDeclaration(
            "source.moderated",
            "The answer of the moderation webhook has covered, muted or kicked a source; source.changed or source.kicked comes before it.",
            [
                Self.uid, JSONField("action", .words(["cover", "mute", "kick"]), "What was done."),
                Self.reason("nudity"), JSONField("still", .count, "Number of the still that was answered."),
            ]),
        EventDeclaration(
            "source.quarantined",
            "Two workers crashed while they decoded a source; its publisher is refused for a time.",
            [
                Self.uid, JSONField("codec", .orNull(.string), "The codec.", example: "h264"),
                Self.reason("two workers crashed while they decoded it"),
                JSONField("until", .date, "Wall-clock time until which it is refused."),
            ]),
        EventDeclaration(
            "passthrough.began", "A publisher's own packets replace the encoder of a rendition.",
            [Self.rendition, Self.uid]),
        EventDeclaration(
            "passthrough.ended", "A rendition is encoded again.",
            [
                Self.rendition, Self.uid,
                JSONField(
                    "cause", .string, "Why, such as scene, lost, codec, size, profile, bitrate or gap.",
                    example: "scene"),
            ]),
    ]

    private static let ingest: [EventDeclaration] = [
        EventDeclaration(
            "ingest.publishing", "A publisher was accepted.",
            [
                Self.uid, JSONField("encoder", .string, "Name of its encoder software.", example: "OBS 31"),
                Self.remote,
                JSONField("takeover", .boolean, "Whether it replaces another publisher of the key.", example: false),
                JSONField("was", .orNull(.string), "The source's state before.", example: "idle"),
            ]),
        EventDeclaration(
            "ingest.unpublished", "A publisher has ended its stream.",
            [Self.uid, Self.reason("unpublished by the encoder")]),
        EventDeclaration(
            "ingest.lost", "A publisher's connection was lost, or was closed by the room; reason says why.",
            [Self.uid, Self.reason("connection closed")]),
        EventDeclaration(
            "ingest.refused", "A publisher was refused.",
            [
                Self.remote, JSONField("key", .orNull(.string), "Its key, shortened.", example: "abcd…"),
                JSONField("code", .orNull(.string), "Error code.", example: "authDenied"),
                Self.reason("unknown stream key"),
                JSONField(
                    "untold", .count, "Refusals of this address since the previous event that were not reported.",
                    example: 0),
            ]),
        EventDeclaration(
            "ingest.flapping", "A publisher was refused because encoders with the same key keep replacing each other.",
            [Self.uid, Self.remote]),
        EventDeclaration(
            "ingest.hookFailed", "The publish webhook has failed.",
            [
                Self.uid, Self.reason("status 503"),
                JSONField("allowed", .boolean, "Whether the publisher was accepted.", example: false),
            ]),
        EventDeclaration("ingest.hookSecretRenewed", "The secret of the publish webhook was read again."),
        Self.refused(
            "ingest.hookSecretRefused",
            "The new secret of the publish webhook cannot be read or is a placeholder; the old one stays in force."),
        EventDeclaration("ingest.keysRenewed", "The stream keys were read again."),
        Self.refused(
            "ingest.keysRefused",
            "The new stream keys cannot be read, are placeholders, or two sources have the same one; the old ones stay in force."
        ),
    ]

    private static let connections: [EventDeclaration] = [
        Self.relay("relay.connecting", "A relay is connecting to its server."),
        Self.relay("relay.live", "A relay is connected and sends media."),
        Self.relay(
            "relay.failed", "A relay could not connect or lost its connection, and tries again.",
            [Self.reason("connection refused"), Self.retry]),
        Self.relay(
            "relay.stopped",
            "A relay was removed, or the publisher of its source has left; in the second case the relay connects again when the publisher is back.",
            [Self.reason("deleted")]),
        EventDeclaration(
            "pull.connecting", "The room connects to the server of a pulled source.", [Self.uid, Self.url]),
        EventDeclaration(
            "pull.failed",
            "The server of a pulled source cannot be reached, refuses the stream or has ended it; the room tries again.",
            [Self.uid, Self.reason("connection refused"), Self.retry]),
    ]

    private static let publication = JSONField(
        "publicationId", .string, "The publication, by the time at which its recording began.",
        example: "20260131T200000000Z")
    private static let part = JSONField(
        "part", .integer, "Number of the file among those of the publication.", example: 1)
    private static let path = JSONField(
        "path", .string, "The file.", example: "recordings/88231-1001-20260131T200000000Z.mp4")

    private static let ownRecordings: [EventDeclaration] = [
        EventDeclaration(
            "source.recording_started", "A file of a source's own recording was begun.",
            [
                Self.uid, Self.publication, Self.part, Self.path,
                JSONField("codecs", .list(.string), "Codecs of its tracks.", example: ["avc1.64001f", "mp4a.40.2"]),
            ]),
        EventDeclaration(
            "source.recording_finished",
            "A file of a source's own recording is complete, with its sidecar. Also sent by a worker that has completed the file of a killed one.",
            [
                Self.uid, Self.publication, Self.part, Self.path,
                JSONField(
                    "reason",
                    .words([
                        "publicationEnded", "stopped", "formatChanged", "workerStopped", "diskFull", "workerKilled",
                        "writeFailed",
                    ]), "Why it ended.", example: "publicationEnded"),
                JSONField("durationMs", .integer, "Its length.", example: 61_000),
                JSONField("bytes", .orNull(.integer), "Its size.", example: 15_250_000),
                JSONField(
                    "dropped", .object([JSONField("video", .integer), JSONField("audio", .integer)]),
                    "Frames that were dropped because the disk was too slow.", example: ["video": 0, "audio": 0]),
            ]),
        EventDeclaration(
            "source.recording_skipped", "A track of a source cannot be recorded; the others are.",
            [
                Self.uid, JSONField("kind", .words(["video", "audio"]), "Kind of the track.", example: "audio"),
                JSONField("codec", .string, "Its codec.", example: "mp3"),
                Self.reason("mp3 cannot be recorded in an MP4 file"),
            ]),
        EventDeclaration(
            "source.recording_failed",
            "A source's own recording cannot be written. Frames are lost. Writing is tried again every 10 s, in a new file.",
            [Self.uid, Self.reason("recording: cannot write recordings/a.mp4: No space left on device")]),
        EventDeclaration(
            "source.recording_dropped",
            "Frames of a source's own recording were dropped because the disk is too slow. At most one event in 10 s.",
            [
                Self.uid, JSONField("video", .integer, "Video frames.", example: 58),
                JSONField("audio", .integer, "Audio frames.", example: 94),
            ]),
    ]

    private static func relay(_ type: String, _ meaning: String, _ others: [JSONField] = []) -> EventDeclaration {
        EventDeclaration(
            type, meaning, [Self.uid, JSONField("id", .string, "The relay.", example: "r1"), Self.url] + others)
    }

    /// Declares the event that a file cannot be used, so that its previous content stays in force.
    static func refused(_ type: String, _ meaning: String, _ others: [JSONField] = []) -> EventDeclaration {
        EventDeclaration(type, meaning, others + [Self.reason("the file is empty"), Self.fix])
    }
}
