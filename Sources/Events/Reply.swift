package import MediaTypes

/// A JSON object in replies of the API and in events. Its members and its schema come from one list.
package protocol Reply: ReplyValue, Sendable {
    /// The members, in the order in which they are sent.
    static var members: [ReplyMember<Self>] { get }
}

/// A reply whose schema has a name of its own, in `openapi.json` and among the schemas of the events.
package protocol NamedReply: Reply {
    /// The name of its schema.
    static var schemaName: String { get }
}

extension Reply {
    /// The reply as JSON.
    package var json: JSONValue {
        .object(
            Self.members.compactMap { member in member.value(self).map { JSONValue.Member(member.field.name, $0) } })
    }

    package static var replyShape: JSONShape { .object(Self.members.map(\.field)) }
    package var replyValue: JSONValue { self.json }
}

extension NamedReply {
    package static var replyShape: JSONShape { .named(Self.schemaName) }

    /// The shape that has the name.
    package static var shape: JSONShape { .object(Self.members.map(\.field)) }
}

/// One member of a reply.
package struct ReplyMember<Owner>: Sendable {
    let field: JSONField
    /// Returns nil if this reply does not have the member.
    let value: @Sendable (Owner) -> JSONValue?

    /// - Parameter value: Returns nil if this reply does not have the member.
    package init(_ field: JSONField, _ value: @escaping @Sendable (Owner) -> JSONValue?) {
        self.field = field
        self.value = value
    }

    /// A member of every reply.
    ///
    /// - Parameters:
    ///   - meaning: What the value is, with its unit; empty if the name says it.
    ///   - shape: What the value's shape is; nil: the one that all values of its type have.
    ///   - example: A value for documentation; nil: any value of the shape.
    package init<Value: ReplyValue>(
        _ name: String, _ meaning: String = "", as shape: JSONShape? = nil, example: JSONValue? = nil,
        _ value: @escaping @Sendable (Owner) -> Value
    ) {
        self.init(JSONField(name, shape ?? Value.replyShape, meaning, example: example)) { value($0).replyValue }
    }

    /// A member that some replies lack: those for which `value` returns nil.
    package init<Value: ReplyValue>(
        optional name: String, _ meaning: String = "", as shape: JSONShape? = nil,
        _ value: @escaping @Sendable (Owner) -> Value?
    ) {
        self.init(JSONField(name, shape ?? Value.replyShape, meaning, isOptional: true)) { value($0)?.replyValue }
    }
}
