package import Events
package import MediaTypes

/// The reply to a command that may have changed nothing.
package protocol CommandReply: NamedReply {
    /// Whether the command has changed something. False if the room already was in the requested state, and for a dry
    /// run.
    var changed: Bool { get }
}

/// When a change becomes visible. All values are nil before the program has begun, or if the frame is not known yet.
package struct EffectTime: Sendable, Hashable {
    /// The first frame that shows the change, counted from the program's origin; nil if it is not known.
    package var tick: Int64?
    /// Program date-time of the first frame that shows the change.
    package var appliesAt: String?
    /// Program time of the first frame that shows the change, in milliseconds.
    package var programTimeMs: Int64?

    package init(tick: Int64? = nil, appliesAt: String? = nil, programTimeMs: Int64? = nil) {
        self.tick = tick
        self.appliesAt = appliesAt
        self.programTimeMs = programTimeMs
    }

    static let fields = [
        JSONField(
            "tick", .orNull(.integer),
            "first frame that shows the change; null before the program has begun, or if that frame is not known yet"),
        JSONField("appliesAt", .orNull(.date), "program date-time of that frame"),
        JSONField("programTimeMs", .orNull(.integer), "program time of that frame, in milliseconds"),
    ]

    var values: [JSONValue] {
        [
            self.tick.map { .integer($0) } ?? .null, JSONValue(self.appliesAt),
            self.programTimeMs.map { .integer($0) } ?? .null,
        ]
    }

    /// The values as members of a reply.
    package var members: [JSONValue.Member] { zip(Self.fields, self.values).map { .init($0.name, $1) } }
}

extension ReplyMember {
    /// The members of a reply that say when the command takes effect.
    static func effect(_ time: @escaping @Sendable (Owner) -> EffectTime) -> [ReplyMember] {
        EffectTime.fields.indices.map { index in ReplyMember(EffectTime.fields[index]) { time($0).values[index] } }
    }

    /// The members of a reply that say when the command takes effect. They are left out if it has no visible effect.
    ///
    /// - Parameter time: Returns when the command takes effect; nil if nothing visible has changed.
    static func effect(ifAny time: @escaping @Sendable (Owner) -> EffectTime?) -> [ReplyMember] {
        EffectTime.fields.indices.map { index in
            ReplyMember(EffectTime.fields[index].optional) { time($0)?.values[index] }
        }
    }
}
