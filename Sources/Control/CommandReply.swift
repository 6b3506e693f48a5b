package import MediaTypes

/// The reply to a command: a JSON object whose members and whose schema come from one list.
package protocol CommandReply: Sendable {
    /// The name of its schema.
    static var schemaName: String { get }
    static var members: [ReplyMember<Self>] { get }
    /// False if the room already was what the command asks for, or if the command only tried something out.
    var changed: Bool { get }
}

extension CommandReply {
    /// The reply as it is sent.
    package var json: JSONValue {
        .object(
            Self.members.compactMap { member in member.value(self).map { JSONValue.Member(member.field.name, $0) } })
    }

    static var schema: APISchema { APISchema(Self.schemaName, .object(Self.members.map(\.field))) }
}

/// One member of a reply.
package struct ReplyMember<Reply>: Sendable {
    let field: JSONField
    /// nil: this reply has no such member.
    let value: @Sendable (Reply) -> JSONValue?

    /// A member that every reply has.
    init(
        _ name: String, _ shape: JSONShape, _ meaning: String = "", _ value: @escaping @Sendable (Reply) -> JSONValue
    ) {
        self.field = JSONField(name, shape, meaning)
        self.value = value
    }

    private init(_ field: JSONField, _ value: @escaping @Sendable (Reply) -> JSONValue?) {
        self.field = field
        self.value = value
    }

    /// When the command takes effect.
    ///
    /// - Parameter time: nil: nothing that is seen has changed.
    static func effect(_ time: @escaping @Sendable (Reply) -> EffectTime) -> [ReplyMember] {
        EffectTime.fields.indices.map { index in ReplyMember(EffectTime.fields[index]) { time($0).values[index] } }
    }

    /// When the command takes effect, if it changes something that is seen.
    static func effect(ifAny time: @escaping @Sendable (Reply) -> EffectTime?) -> [ReplyMember] {
        EffectTime.fields.indices.map { index in
            ReplyMember(EffectTime.fields[index].optional) { time($0)?.values[index] }
        }
    }
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

    fileprivate var values: [JSONValue] {
        [
            self.tick.map { .integer($0) } ?? .null, JSONValue(self.appliesAt),
            self.programTimeMs.map { .integer($0) } ?? .null,
        ]
    }

    /// The members as replies have them.
    package var members: [JSONValue.Member] { zip(Self.fields, self.values).map { .init($0.name, $1) } }
}
