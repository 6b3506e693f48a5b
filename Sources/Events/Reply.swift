package import MediaTypes

/// A JSON object in API responses and events. Its JSON form and its schema are made from the same list of members.
package protocol Reply: ReplyValue, Sendable {
    /// The members of the object, in the order in which they are sent.
    static var members: [ReplyMember<Self>] { get }
}

/// A JSON object in API responses or events whose schema has a name: other schemas refer to it by this name instead of repeating
/// its members.
package protocol NamedReply: Reply {
    /// The name of the object's JSON schema.
    static var schemaName: String { get }
}

extension Reply {
    /// The object as JSON.
    package var json: JSONValue {
        .object(
            Self.members.compactMap { member in member.value(self).map { JSONValue.Member(member.field.name, $0) } })
    }

    package static var replyShape: JSONShape { .object(Self.members.map(\.field)) }
    package var replyValue: JSONValue { self.json }
}

extension NamedReply {
    package static var replyShape: JSONShape { .named(Self.schemaName) }

    /// The JSON shape of the object's members, to which the schema's name refers.
    package static var shape: JSONShape { .object(Self.members.map(\.field)) }
}

/// A member of a JSON object in a response or event.
package struct ReplyMember<Owner>: Sendable {
    let field: JSONField
    /// Returns the member's value; nil if the object does not have the member.
    let value: @Sendable (Owner) -> JSONValue?

    /// Makes a member with a complete field description.
    ///
    /// - Parameter value: Returns the member's value; nil if the object does not have the member.
    package init(_ field: JSONField, _ value: @escaping @Sendable (Owner) -> JSONValue?) {
        self.field = field
        self.value = value
    }

    /// Makes a member that every object of the type has.
    ///
    /// - Parameters:
    ///   - meaning: Description of the value, with its unit; empty if the name is sufficient.
    ///   - shape: The JSON shape of the value; nil: the shape that all values of its type have.
    ///   - example: An example value for documentation; nil: any value of the shape.
    package init<Value: ReplyValue>(
        _ name: String, _ meaning: String = "", as shape: JSONShape? = nil, example: JSONValue? = nil,
        _ value: @escaping @Sendable (Owner) -> Value
    ) {
        self.init(JSONField(name, shape ?? Value.replyShape, meaning, example: example)) { value($0).replyValue }
    }

    /// Makes an optional member: an object for which `value` returns nil does not have it.
    package init<Value: ReplyValue>(
        optional name: String, _ meaning: String = "", as shape: JSONShape? = nil,
        _ value: @escaping @Sendable (Owner) -> Value?
    ) {
        self.init(JSONField(name, shape ?? Value.replyShape, meaning, isOptional: true)) { value($0)?.replyValue }
    }
}
