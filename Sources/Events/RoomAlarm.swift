/// A problem of a room, to be shown as an alarm. Problems with the same type and subject are the same alarm.
package struct RoomAlarm: Sendable, Hashable {
    /// Type of the problem, such as `source.lost`.
    package var type: String
    /// Severity: `alert_1` (for information), `alert_2`, or `alert_3` (viewers notice it).
    package var severity: String
    /// Kind of the affected component: `source`, `encoder`, `output`, `config` or `listener`.
    package var kind: String
    /// Id of the affected component, such as a source's uid; nil if there is only one.
    package var subject: String?
    /// Description for humans, in one line.
    package var message: String

    package init(_ type: String, _ severity: String, kind: String, subject: String? = nil, message: String) {
        self.type = type
        self.severity = severity
        self.kind = kind
        self.subject = subject
        self.message = message
    }
}

/// An alarm in API responses and events.
package struct AlarmReply: NamedReply {
    package static let schemaName = "Alarm"

    /// Id of the alarm, unique in the room.
    package let id: String
    package let alarm: RoomAlarm
    /// Date and time at which the alarm was set.
    package let setAt: String
    /// Date and time at which the alarm was cleared; nil while it is active.
    package let clearedAt: String?

    package init(id: String, alarm: RoomAlarm, setAt: String, clearedAt: String?) {
        self.id = id
        self.alarm = alarm
        self.setAt = setAt
        self.clearedAt = clearedAt
    }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("id", "unique in the room; also in the events alarm.set and alarm.cleared", example: "1-3") {
            $0.id
        },
        ReplyMember("type", "type of the problem, such as source.lost", example: "source.lost") { $0.alarm.type },
        ReplyMember("severity", as: .words(Array(EventDeclaration.levels.dropFirst()))) { $0.alarm.severity },
        ReplyMember("state", as: .words(["set", "cleared"])) { $0.clearedAt == nil ? "set" : "cleared" },
        ReplyMember("scope") { AlarmScope(alarm: $0.alarm) },
        ReplyMember("message", example: "Anna: no data for 4 s") { $0.alarm.message },
        ReplyMember("setAt", "when the problem began", as: .date) { $0.setAt },
        ReplyMember("clearedAt", "when the problem ended; null while it lasts", as: .orNull(.date), example: .null) {
            $0.clearedAt
        },
    ]
}

/// The component that an alarm affects, as JSON.
private struct AlarmScope: Reply {
    let alarm: RoomAlarm

    static let members: [ReplyMember<Self>] = [
        ReplyMember("kind", as: .words(["source", "encoder", "output", "config", "listener"])) { $0.alarm.kind },
        ReplyMember("id", example: "1001") { $0.alarm.subject },
    ]
}
