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
