package import MediaTypes

/// The reply to a command.
package protocol CommandReply: NamedReply {
    /// False if the room already was what the command asks for, or if the command only tried something out.
    var changed: Bool { get }
}

/// When a change is seen first; all nil before the program has begun.
package struct EffectTime: Sendable, Hashable {
    /// The first frame that shows the change, counted from the program's origin.
    package var tick: Int64?
    /// Program date-time of that frame.
    package var appliesAt: String?
    /// Program time of that frame, in milliseconds.
    package var programTimeMs: Int64?

    package init(tick: Int64? = nil, appliesAt: String? = nil, programTimeMs: Int64? = nil) {
        self.tick = tick
        self.appliesAt = appliesAt
        self.programTimeMs = programTimeMs
    }

    static let fields = [
        JSONField(
            "tick", .orNull(.integer),
            "first frame that shows it; null before the program has begun, and if no frame shows it yet"),
        JSONField("appliesAt", .orNull(.date), "its program date-time"),
        JSONField("programTimeMs", .orNull(.integer), "its program time, in milliseconds"),
    ]

    var values: [JSONValue] {
        [
            self.tick.map { .integer($0) } ?? .null, JSONValue(self.appliesAt),
            self.programTimeMs.map { .integer($0) } ?? .null,
        ]
    }

    /// The members as replies have them.
    package var members: [JSONValue.Member] { zip(Self.fields, self.values).map { .init($0.name, $1) } }
}
