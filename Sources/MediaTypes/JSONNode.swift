/// A JSON value with its position in the text.
///
/// Spec: RFC 8259. Objects keep the order of their members.
package struct JSONNode: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case null
        case boolean(Bool)
        /// A whole number: in digits only, if it fits in 64 bits; with a point or an exponent (`30.0`, `3e1`), if it is
        /// whole as a `Double` and its magnitude is at most 2⁵³.
        case integer(Int64)
        /// Any other number; always finite.
        case number(Double)
        case string(String)
        case array([JSONNode])
        case object([JSONMember])
    }

    package var content: Content
    package var position: SpecPosition

    package init(_ content: Content, at position: SpecPosition = .none) {
        self.content = content
        self.position = position
    }

    /// The value of the member with this key; `nil` if there is none, or if this value is not an object.
    package subscript(key key: String) -> JSONNode? {
        guard case .object(let members) = self.content else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The text of a string, otherwise `nil`.
    package var string: String? {
        if case .string(let text) = self.content { text } else { nil }
    }

    /// The value of an ``Content/integer(_:)``, otherwise `nil`, also for a whole number that is too large.
    package var integer: Int64? {
        if case .integer(let number) = self.content { number } else { nil }
    }

    /// The value of `true` or `false`, otherwise `nil`.
    package var boolean: Bool? {
        if case .boolean(let value) = self.content { value } else { nil }
    }

    /// The elements of an array, otherwise `nil`.
    package var array: [JSONNode]? {
        if case .array(let elements) = self.content { elements } else { nil }
    }

    /// The type of the value in words for a message, for example `a string` or `an object`.
    package var kind: String {
        switch self.content {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .number(let number):
            number.truncatingRemainder(dividingBy: 1) == 0
                ? "a number too large to be exact" : "a number with a fraction"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A member of a JSON object: its key and its value.
package struct JSONMember: Sendable, Equatable {
    package var key: String
    /// Position of the key in the text.
    package var position: SpecPosition
    package var value: JSONNode

    package init(_ key: String, _ value: JSONNode, at position: SpecPosition = .none) {
        self.key = key
        self.position = position
        self.value = value
    }
}

extension JSONNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self.init(.string(value)) }
    package init(integerLiteral value: Int64) { self.init(.integer(value)) }
    package init(booleanLiteral value: Bool) { self.init(.boolean(value)) }

    package static func string(_ text: String) -> JSONNode { JSONNode(.string(text)) }
    package static func integer(_ number: Int) -> JSONNode { JSONNode(.integer(Int64(number))) }
    package static func array(_ elements: [JSONNode]) -> JSONNode { JSONNode(.array(elements)) }
    package static func object(_ members: [JSONMember]) -> JSONNode { JSONNode(.object(members)) }
}
