package import MediaTypes

/// A cause of a source's bad health, with its severity and a description of what was measured.
package struct HealthFinding: NamedReply, Equatable {
    package static let schemaName = "Finding"

    package enum Level: Int, Sendable, Comparable, CaseIterable {
        case normal, alert1, alert2, alert3

        package var name: String { self == .normal ? "normal" : "alert_\(self.rawValue)" }

        package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    package enum Cause: String, Sendable, CaseIterable, ReplyValue {
        case fps, gap, network, loss, bitrate, skew, keyInterval, jitterBuffer, decodeErrors, workerLag, absent
    }

    package var cause: Cause
    package var level: Level
    /// Description for humans of what happened, with the measured value and the expected one.
    package var message: String

    package init(cause: Cause, level: Level, message: String) {
        self.cause = cause
        self.level = level
        self.message = message
    }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("cause") { $0.cause },
        ReplyMember("level", as: .words(Array(EventDeclaration.levels.dropFirst()))) { $0.level },
        ReplyMember("message", example: "12 frames a second instead of 30") { $0.message },
    ]
}

extension HealthFinding.Level: ReplyValue {
    package static var replyShape: JSONShape { .words(EventDeclaration.levels) }
    package var replyValue: JSONValue { .string(self.name) }
}
