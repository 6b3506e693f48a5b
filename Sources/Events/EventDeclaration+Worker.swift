import MediaTypes

/// Declarations of the events about the worker itself: alarms, load, reloaded files, webhooks.
extension EventDeclaration {
    static let worker: [EventDeclaration] = Self.alarms + Self.files + Self.webhooks

    private static let alarms: [EventDeclaration] = [
        Self.alarm("alarm.set", "A problem was detected, or its severity has changed.", Self.level),
        Self.alarm(
            "alarm.cleared", "The problem of an alarm has ended, or the worker that reported it has stopped.",
            JSONField("level", .words(["normal"]))),
        EventDeclaration(
            "encoder.overload_step", "A step against overload of the machine was taken or undone.",
            [
                JSONField("step", .string, "The step.", example: "encoder"),
                JSONField("rendition", .orNull(.string), "The rendition of the step.", example: "480p"),
                JSONField("taken", .boolean, "true: the step was taken; false: it was undone."),
                JSONField("lagMs", .integer, "How far the room is behind its clock, in ms.", example: 240),
                JSONField("steps", .count, "Number of steps in force."),
            ]),
        EventDeclaration(
            "encoder.fallback", "libx264 encodes a rendition because its hardware encoder did not open or has failed.",
            [
                JSONField("rendition", .string, "The rendition.", example: "720p"),
                JSONField("encoder", .string, "The hardware encoder.", example: "h264_nvenc"),
                JSONField(
                    "tick", .orNull(.integer), "First frame of libx264; null if the encoder did not open at the start.",
                    example: 9000),
                Self.reason("encode[720p]: the encoder did not answer in 500 ms"),
                JSONField(
                    "fix", .string, "What to do.", example: "look at the GPU's kernel log, then restart the room"),
            ]),
    ]

    private static func alarm(_ type: String, _ meaning: String, _ level: JSONField) -> EventDeclaration {
        EventDeclaration(
            type, meaning,
            [
                JSONField("id", .string, "The alarm's id.", example: "1-3"), level,
                Self.reason("Anna: no data for 4 s"),
                JSONField("uid", .orNull(.string), "The source, if it is a source's alarm.", example: "1001"),
                JSONField("alarm", AlarmReply.replyShape, "The alarm, as in GET /v1/alarms."),
            ])
    }

    private static let file = JSONField("file", .string, "The pipeline file.", example: "/etc/tandem/room.json")
    private static let listener = JSONField("listener", .string, "The listener.", example: "viewer")
    private static let validUntil = JSONField("validUntil", .date, "End of validity of the certificate in use.")

    private static let files: [EventDeclaration] = [
        EventDeclaration(
            "config.invalid", "The pipeline file has changed and is refused; the previous version stays in force.",
            [
                Self.file, Self.code("invalidLayout"), Self.reason("panes[0].x: is missing"), Self.fix,
                JSONField(
                    "errors",
                    .list(
                        .object([
                            JSONField("path", .string, example: "panes[0].x"), JSONField("line", .integer, example: 12),
                            JSONField("column", .integer, example: 5),
                            JSONField("what", .string, example: "is missing"),
                            JSONField("fix", .string, example: "add it"),
                        ])), "The mistakes, 16 at most."),
            ]),
        EventDeclaration("config.restored", "The pipeline file is valid again and in force.", [Self.file]),
        EventDeclaration(
            "tls.renewed", "A listener has a new certificate.", [Self.listener, Self.validUntil]),
        EventDeclaration(
            "tls.refused", "The new certificate of a listener is refused; the old one stays.",
            [Self.listener, Self.reason("the key does not belong to the certificate"), Self.fix, Self.validUntil]),
        EventDeclaration("control.tokensRenewed", "The tokens of the control API were read again."),
        Self.refused(
            "control.tokensRefused",
            "The new tokens of the control API cannot be read, are placeholders, or are equal; the old ones stay in force."
        ),
        EventDeclaration("playback.secretsRenewed", "The secrets of viewers' URLs were read again."),
        Self.refused(
            "playback.secretsRefused",
            "The new secrets of viewers' URLs cannot be read or are placeholders; the old ones stay in force."),
    ]

    private static let webhooks: [EventDeclaration] = [
        Self.webhook("webhook.failing", "A webhook receiver does not accept events.", [Self.reason("status 503")]),
        Self.webhook(
            "webhook.restored", "A webhook receiver accepts events again.",
            [JSONField("failures", .count, "Attempts that have failed.", example: 4)]),
        Self.webhook(
            "webhook.disabled",
            "A webhook receiver has answered 410. It gets no more events, also from later workers, unless its settings change.",
            [Self.reason("status 410: the receiver wants no more events")]),
        Self.webhook(
            "webhook.lost", "A webhook receiver is too far behind; the oldest events were dropped for it.",
            [JSONField("events", .count, "Events that were lost.", example: 12)]),
        Self.webhook(
            "webhook.removed", "A webhook receiver was removed.",
            [JSONField("undelivered", .count, "Events that it has not accepted.", example: 0)]),
        EventDeclaration(
            "moderation.failing",
            "A still was not accepted by the moderation webhook, or its answer was invalid; only the first of consecutive failures.",
            [Self.reason("status 503")]),
        EventDeclaration(
            "moderation.restored", "The moderation webhook has accepted a still again.",
            [JSONField("failures", .count, "Attempts that have failed.", example: 4)]),
        EventDeclaration("webhook.secretsRenewed", "The secrets of the webhooks were read again."),
        Self.refused(
            "webhook.secretsRefused",
            "The new secrets or URLs of webhooks cannot be read, are placeholders, or are invalid; the old ones stay in force."
        ),
    ]

    private static func webhook(_ type: String, _ meaning: String, _ others: [JSONField]) -> EventDeclaration {
        EventDeclaration(
            type, meaning,
            [JSONField("webhook", .string, "The receiver, without its secrets.", example: "https://app.example/hook")]
                + others)
    }
}
