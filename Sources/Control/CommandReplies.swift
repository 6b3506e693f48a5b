import MediaTypes

/// The reply to `PUT /v1/program`.
package struct ProgramReply: CommandReply {
    package static let schemaName = "ProgramChange"
    package var sceneID: String
    package var changed: Bool
    package var effect: EffectTime

    package init(sceneID: String, changed: Bool, effect: EffectTime) {
        self.sceneID = sceneID
        self.changed = changed
        self.effect = effect
    }

    package static var members: [ReplyMember<Self>] {
        [
            ReplyMember("sceneId", .string) { .string($0.sceneID) },
            ReplyMember("changed", .boolean, "false: the scene was on air already") { .bool($0.changed) },
        ] + ReplyMember.effect(\.effect)
    }
}

/// The reply to `PUT /v1/scenes/{sceneId}`.
package struct SceneReply: CommandReply {
    package static let schemaName = "SceneChange"
    package var sceneID: String
    package var revision: Int
    package var changed: Bool
    /// nil: the scene is not on air and not scheduled.
    package var effect: EffectTime?
    package var warnings: [String]

    package init(sceneID: String, revision: Int, changed: Bool, effect: EffectTime?, warnings: [String]) {
        self.sceneID = sceneID
        self.revision = revision
        self.changed = changed
        self.effect = effect
        self.warnings = warnings
    }

    package static var members: [ReplyMember<Self>] {
        [
            ReplyMember("sceneId", .string) { .string($0.sceneID) },
            ReplyMember("revision", .integer) { JSONValue($0.revision) },
            ReplyMember("changed", .boolean) { .bool($0.changed) },
        ] + ReplyMember.effect(ifAny: \.effect) + [
            ReplyMember("warnings", .list(.string)) { .array($0.warnings.map { .string($0) }) }
        ]
    }
}

/// The reply to `PUT` and `PATCH /v1/room`.
package struct DocumentReply: CommandReply {
    package static let schemaName = "DocumentChange"
    package var revision: Int
    package var changed: Bool
    package var isDryRun: Bool
    /// JSON paths of the values that the new version changes.
    package var applied: [String]
    /// nil: nothing visible has changed.
    package var effect: EffectTime?
    package var warnings: [String]

    package init(
        revision: Int, changed: Bool, isDryRun: Bool, applied: [String], effect: EffectTime?, warnings: [String]
    ) {
        self.revision = revision
        self.changed = changed
        self.isDryRun = isDryRun
        self.applied = applied
        self.effect = effect
        self.warnings = warnings
    }

    package static var members: [ReplyMember<Self>] {
        [
            ReplyMember("revision", .count, "revision of the document after the command") { JSONValue($0.revision) },
            ReplyMember("changed", .boolean, "false if the document was the same already, and for a dry run") {
                .bool($0.changed)
            },
            ReplyMember("dryRun", .boolean) { .bool($0.isDryRun) },
            ReplyMember("applied", .list(.string), "JSON paths of the changed values, at most 64") {
                .array($0.applied.map { .string($0) })
            },
        ] + ReplyMember.effect(ifAny: \.effect) + [
            ReplyMember("warnings", .list(.string)) { .array($0.warnings.map { .string($0) }) }
        ]
    }
}

/// The reply to `POST /v1/metadata`.
package struct MetadataReply: CommandReply {
    package static let schemaName = "MetadataChange"
    package var id: String
    package var type: String
    package var changed: Bool
    package var effect: EffectTime

    package init(id: String, type: String, changed: Bool, effect: EffectTime) {
        self.id = id
        self.type = type
        self.changed = changed
        self.effect = effect
    }

    package static var members: [ReplyMember<Self>] {
        [
            ReplyMember("id", .string, "id from the request, or a generated one") { .string($0.id) },
            ReplyMember("type", .string) { .string($0.type) },
            ReplyMember("changed", .boolean, "false: this id was used before") { .bool($0.changed) },
        ] + ReplyMember.effect(\.effect)
    }
}

/// The reply to `PUT /v1/log-level`.
struct LogLevelReply: CommandReply {
    static let schemaName = "LogLevelChange"
    var level: String
    var changed: Bool

    static var members: [ReplyMember<Self>] {
        [
            ReplyMember("level", .words(["trace", "debug", "info", "notice", "warning", "error", "critical"])) {
                .string($0.level)
            },
            ReplyMember("changed", .boolean) { .bool($0.changed) },
        ]
    }
}
