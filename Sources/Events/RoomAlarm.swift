/// One thing that is wrong with a room. Two of the same type and subject are one alarm.
package struct RoomAlarm: Sendable, Hashable {
    /// Dotted, such as `source.lost`.
    package var type: String
    /// `alert_1`, `alert_2` or `alert_3`, from what is to be known to what viewers notice.
    package var severity: String
    /// What it concerns: `source`, `encoder`, `output`, `config`, `listener`; and which of them.
    package var kind: String
    package var subject: String?
    /// For people, in one line.
    package var message: String

    package init(_ type: String, _ severity: String, kind: String, subject: String? = nil, message: String) {
        self.type = type
        self.severity = severity
        self.kind = kind
        self.subject = subject
        self.message = message
    }
}

/// An alarm in replies and events.
package struct AlarmReply: NamedReply {
    package static let schemaName = "Alarm"

    /// Unique in the room.
    package let id: String
    package let alarm: RoomAlarm
    /// Date-times.
    package let setAt: String
    /// nil: the alarm is active.
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
        ReplyMember("type", "dotted, such as source.lost", example: "source.lost") { $0.alarm.type },
        ReplyMember("severity", as: .words(Array(EventDeclaration.levels.dropFirst()))) { $0.alarm.severity },
        ReplyMember("state", as: .words(["set", "cleared"])) { $0.clearedAt == nil ? "set" : "cleared" },
        ReplyMember("scope") { AlarmScope(alarm: $0.alarm) },
        ReplyMember("message", example: "Anna: no data for 4 s") { $0.alarm.message },
        ReplyMember("setAt", "when it began", as: .date) { $0.setAt },
        ReplyMember("clearedAt", "when it ended", as: .orNull(.date), example: .null) { $0.clearedAt },
    ]
}

/// What an alarm concerns.
private struct AlarmScope: Reply {
    let alarm: RoomAlarm

    static let members: [ReplyMember<Self>] = [
        ReplyMember("kind", as: .words(["source", "encoder", "output", "config", "listener"])) { $0.alarm.kind },
        ReplyMember("id", example: "1001") { $0.alarm.subject },
    ]
}
