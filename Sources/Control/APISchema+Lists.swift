import MediaTypes

/// Schemas of lists, of the worker itself, and of problem details.
extension APISchema {
    static let lists: [APISchema] = [
        APISchema(
            "SceneList",
            .object([
                JSONField("scenes", .list(.named("Scene"))),
                JSONField(
                    "upcoming",
                    .list(
                        .object([JSONField("sceneId", .string)] + EffectTime.fields))),
                JSONField(
                    "scores",
                    .list(
                        .object([
                            JSONField("scoreId", .string), JSONField("left", .integer), JSONField("right", .integer),
                        ])), "points of all score bars"),
            ])),
        APISchema(
            "Scene",
            .object([
                JSONField("sceneId", .string), JSONField("revision", .integer), JSONField("uids", .list(.string)),
                JSONField("auto", .boolean, "its layout follows the sources that are present"),
                JSONField("onAir", .boolean),
                JSONField(
                    "panes",
                    .list(
                        .object([
                            JSONField("uid", .string), JSONField("streamType", .words(["main", "sub"])),
                            JSONField("x", .integer), JSONField("y", .integer), JSONField("width", .integer),
                            JSONField("height", .integer), JSONField("zOrder", .integer),
                        ])),
                    "rectangles of its sources, in pixels of the canvas; those of an automatic layout follow the sources that are present"
                ),
            ])),
        APISchema("ClipList", .object([JSONField("clips", .list(.named("Clip")))])),
        APISchema(
            "EventPage",
            .object([
                JSONField("events", .list(.named("Event"))),
                JSONField("next", .integer, "number to send as after in the next request"),
                JSONField("last", .integer, "number of the last event"),
                JSONField("missed", .integer, "number of events that are not kept any more"),
            ])),
        APISchema(
            "LogPage",
            .object([
                JSONField("level", .string, "the lowest level that is logged"),
                JSONField("lines", .list(.map(.string)), "ts, level, msg, logger, and the line's metadata"),
            ])),
        APISchema("Version", .object([JSONField("version", .string).optional, JSONField("ffmpeg", .string).optional])),
        APISchema(
            "HealthReport",
            .object([
                JSONField("status", .words(["pass", "fail"])), JSONField("state", .string),
                JSONField("checks", .map(.string)),
            ])),
        APISchema(
            "Problem", "RFC 9457",
            .object([
                JSONField("type", .string, "urn:tandem:error: and the code"), JSONField("title", .string),
                JSONField("status", .range(400...599)),
                JSONField(
                    "code",
                    .words([
                        "superseded", "invalidFormat", "roomExited", "limitExceeded", "duplicateId", "notFound",
                        "requestFailed", "internal", "invalidLayout", "imageError", "authDenied", "inputTooLarge",
                        "needsRestart",
                    ])),
                JSONField("number", .integer, "number of this error in other live streaming services; 0: none"),
                JSONField("detail", .string, "what is wrong"), JSONField("fix", .string, "what to send instead"),
                JSONField("nertcCode", .integer, "same as number"),
                JSONField(
                    "errors",
                    .list(
                        .object([
                            JSONField("path", .string, "path in the document, such as panes[1].width"),
                            JSONField("line", .integer, "from 1; 0: unknown"), JSONField("column", .integer),
                            JSONField("what", .string), JSONField("fix", .string),
                        ]))
                ).optional,
            ])),
    ]
}
