package import MediaTypes

/// The reply to a command: a JSON object whose members and whose schema come from one list.
package protocol CommandReply: Sendable {
    /// The name of its schema.
    static var schemaName: String { get }
    static var members: [ReplyMember<Self>] { get }
    /// False if the room already was in the requested state, or for a dry run.
    var changed: Bool { get }
}

extension CommandReply {
    /// The reply as JSON.
    package var json: JSONValue {
        .object(
            Self.members.compactMap { member in member.value(self).map { JSONValue.Member(member.field.name, $0) } })
    }

    static var schema: APISchema { APISchema(Self.schemaName, .object(Self.members.map(\.field))) }
}

/// One member of a reply.
package struct ReplyMember<Reply>: Sendable {
    let field: JSONField
    /// Returns nil if this reply does not have the member.
    let value: @Sendable (Reply) -> JSONValue?

    /// A member of every reply.
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

    /// The members that tell when the command takes effect.
    ///
    /// - Parameter time: nil: nothing that is seen has changed.
    static func effect(_ time: @escaping @Sendable (Reply) -> EffectTime) -> [ReplyMember] {
        EffectTime.fields.indices.map { index in ReplyMember(EffectTime.fields[index]) { time($0).values[index] } }
    }

    /// The members that tell when the command takes effect, if it has a visible effect.
    static func effect(ifAny time: @escaping @Sendable (Reply) -> EffectTime?) -> [ReplyMember] {
        EffectTime.fields.indices.map { index in
            ReplyMember(EffectTime.fields[index].optional) { time($0)?.values[index] }
        }
    }
}

/// When a change becomes visible; all values are nil before the program has begun.
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
            "first frame that shows the change; null before the program has begun, or if that frame is not known yet"),
        JSONField("appliesAt", .orNull(.date), "program date-time of that frame"),
        JSONField("programTimeMs", .orNull(.integer), "program time of that frame, in milliseconds"),
    ]

    fileprivate var values: [JSONValue] {
        [
            self.tick.map { .integer($0) } ?? .null, JSONValue(self.appliesAt),
            self.programTimeMs.map { .integer($0) } ?? .null,
        ]
    }

    /// The members as in replies.
    package var members: [JSONValue.Member] { zip(Self.fields, self.values).map { .init($0.name, $1) } }
}
