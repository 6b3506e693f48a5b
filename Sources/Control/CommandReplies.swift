package import Events
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
            ReplyMember("sceneId") { $0.sceneID },
            ReplyMember("changed", "false: the scene was on air already") { $0.changed },
        ] + ReplyMember.effect(\.effect)
    }
}

/// The reply to `PUT /v1/scenes/{sceneId}`.
package struct SceneReply: CommandReply {
    package static let schemaName = "SceneChange"
    package var sceneID: String
    package var revision: Int
    package var changed: Bool
    /// When the change becomes visible; nil if the scene is neither on air nor scheduled.
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
            ReplyMember("sceneId") { $0.sceneID },
            ReplyMember("revision") { $0.revision },
            ReplyMember("changed") { $0.changed },
        ] + ReplyMember.effect(ifAny: \.effect) + [
            ReplyMember("warnings") { $0.warnings }
        ]
    }
}

/// The reply to `PUT` and `PATCH /v1/room`.
package struct DocumentReply: CommandReply {
    package static let schemaName = "DocumentChange"
    package var revision: Int
    package var changed: Bool
    package var isDryRun: Bool
    /// JSON paths of the values in which the new version of the document differs, at most 64.
    package var applied: [String]
    /// When the change becomes visible; nil if nothing visible has changed.
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
            ReplyMember("revision", "revision of the document after the command", as: .count) { $0.revision },
            ReplyMember("changed", "false if the document was the same already, and for a dry run") { $0.changed },
            ReplyMember("dryRun") { $0.isDryRun },
            ReplyMember("applied", "JSON paths of the changed values, at most 64") { $0.applied },
        ] + ReplyMember.effect(ifAny: \.effect) + [
            ReplyMember("warnings") { $0.warnings }
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
            ReplyMember("id", "id from the request, or a generated one") { $0.id },
            ReplyMember("type") { $0.type },
            ReplyMember("changed", "false: this event was already sent") { $0.changed },
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
            ReplyMember("level", as: .words(["trace", "debug", "info", "notice", "warning", "error", "critical"])) {
                $0.level
            },
            ReplyMember("changed") { $0.changed },
        ]
    }
}
