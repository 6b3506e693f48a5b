import MediaTypes

/// Schemas of command replies that have no Swift type.
extension APISchema {
    /// Schemas of replies to commands and of lists that are made in this module.
    package static let control: [APISchema] =
        [
            ProgramReply.schema, SceneReply.schema, DocumentReply.schema, MetadataReply.schema, LogLevelReply.schema,
        ] + Self.commands + Self.lists

    static let commands: [APISchema] = [
        APISchema("SceneRemoval", .object([JSONField("sceneId", .string), JSONField("removed", .always(true))])),
        APISchema(
            "SourceChange",
            .object([
                JSONField("streamType", .words(["main", "sub"])), JSONField("uid", .string),
                JSONField("volume", .integer).optional, JSONField("audioTrack", .integer).optional,
                JSONField("audioPush", .boolean).optional, JSONField("videoPush", .boolean).optional,
                JSONField("offsetMs", .integer).optional, JSONField("rotation", .integer).optional,
            ])),
        APISchema(
            "SourceKick",
            .object([
                JSONField("streamType", .words(["main", "sub"])), JSONField("uid", .string),
                JSONField("wasPublishing", .boolean), JSONField("refused", .orNull(.named("Refusal"))),
            ])),
        APISchema(
            "SourceRecordingStart",
            .object([
                JSONField("uid", .string), JSONField("streamType", .words(["main", "sub"])),
                JSONField("accepted", .always("start")), JSONField("state", .always("recording")),
            ])),
        APISchema(
            "SourceRecordingStop",
            .object([
                JSONField("uid", .string), JSONField("streamType", .words(["main", "sub"])),
                JSONField("accepted", .always("stop")), JSONField("state", .always("stopped")),
            ])),
        APISchema(
            "StillRequest",
            .object([
                JSONField("uid", .string), JSONField("streamType", .words(["main", "sub"])),
                JSONField("accepted", .always("still")),
            ])),
        APISchema("RelayRemoval", .object([JSONField("id", .string), JSONField("deleted", .always(true))])),
        APISchema(
            "OverlayPlay",
            .object(
                [
                    JSONField("overlay", .string), JSONField("playId", .integer, "number of the play in its events"),
                    JSONField("state", .words(["scheduled", "queued"])),
                    JSONField("position", .orNull(.integer), "place in the queue, from 1; null: scheduled"),
                ] + EffectTime.fields)),
        APISchema(
            "SubtitleCues",
            .object([
                JSONField("subtitles", .string, "name of the rendition"),
                JSONField("cues", .list(.named("SubtitleCue")), "the cues in the order of the request"),
            ])),
        APISchema(
            "SubtitleCue",
            .object([
                JSONField("startMs", .integer, "program time at which the text appears"),
                JSONField("endMs", .integer, "program time at which the text disappears"),
                JSONField(
                    "late", .boolean,
                    "whether it appears later than requested, because the segment of the requested time is complete"),
            ])),
        APISchema(
            "TextChange",
            .object(
                [
                    JSONField("textId", .string), JSONField("text", .string),
                ] + EffectTime.fields)),
        APISchema(
            "ScoreChange",
            .object(
                [
                    JSONField("scoreId", .string), JSONField("left", .integer), JSONField("right", .integer),
                ] + EffectTime.fields)),
        APISchema(
            "CountdownChange",
            .object(
                [
                    JSONField("countdownId", .string), JSONField("endsAt", .date, "when it ends"),
                ] + EffectTime.fields)),
        APISchema(
            "OutputRestart", .object([JSONField("outputId", .string), JSONField("accepted", .always("restart"))])),
        APISchema(
            "RecordingStart",
            .object([
                JSONField("outputId", .string), JSONField("accepted", .always("start")),
                JSONField("state", .named("RecordState")),
            ])),
        APISchema(
            "RecordingStop",
            .object([
                JSONField("outputId", .string), JSONField("accepted", .always("stop")),
                JSONField("state", .named("RecordState")),
            ])),
        APISchema(
            "KeyframeRequest", .object([JSONField("rendition", .string), JSONField("accepted", .always("keyframe"))])),
        APISchema(
            "DemandAnnouncement",
            .object([
                JSONField("rendition", .string), JSONField("accepted", .always("demand")),
                JSONField(
                    "awake", .boolean,
                    "whether the rendition is encoded, now or from the next segment on; false on an overloaded machine"),
            ])),
        APISchema("RoomEnd", .object([JSONField("accepted", .always("end"))])),
        APISchema("RoomDrain", .object([JSONField("accepted", .always("drain"))])),
    ]
}
