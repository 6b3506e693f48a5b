import MediaTypes

/// How an event type is printed for people: what it is about, what has happened, and how bad it is.
struct EventPhrase: Sendable {
    /// How the tone of an event is determined.
    enum Severity: Sendable {
        case always(TerminalStyle.Tone)
        /// By the member of this name: `normal` or an alert level.
        case level(String)
        /// By the state that the room has now.
        case roomState
    }

    let subject: EventTemplate
    let what: EventTemplate
    let severity: Severity

    init(_ subject: String, _ what: String, _ tone: TerminalStyle.Tone = .plain) {
        self.init(subject, what, .always(tone))
    }

    init(_ subject: String, _ what: String, _ severity: Severity) {
        self.subject = EventTemplate(subject)
        self.what = EventTemplate(what)
        self.severity = severity
    }

    func tone(_ event: JSONNode) -> TerminalStyle.Tone {
        switch self.severity {
        case .always(let tone): return tone
        case .level(let member): return Self.tone(ofLevel: event[key: member]?.string ?? "")
        case .roomState: return Self.tone(ofState: event[key: "to"]?.string ?? "")
        }
    }

    /// Returns the tone for the severity of an alarm or the health of a source.
    static func tone(ofLevel level: String) -> TerminalStyle.Tone {
        switch level {
        case "normal": .good
        case "alert_1": .warning
        case "alert_2", "alert_3": .bad
        default: .plain
        }
    }

    /// Returns the tone for the state of a room.
    static func tone(ofState state: String) -> TerminalStyle.Tone {
        switch state {
        case "live": .good
        case "recovering", "degraded": .warning
        case "failed": .bad
        default: .plain
        }
    }
}
