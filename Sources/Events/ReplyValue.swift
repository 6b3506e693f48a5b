package import MediaTypes

/// A type whose values can be members of JSON objects in responses and events.
package protocol ReplyValue: SendableMetatype {
    /// The JSON shape of all values of the type.
    static var replyShape: JSONShape { get }
    /// The value as JSON.
    var replyValue: JSONValue { get }
}

extension Int: ReplyValue {
    package static var replyShape: JSONShape { .integer }
    package var replyValue: JSONValue { JSONValue(self) }
}

extension Int64: ReplyValue {
    package static var replyShape: JSONShape { .integer }
    package var replyValue: JSONValue { .integer(self) }
}

extension Bool: ReplyValue {
    package static var replyShape: JSONShape { .boolean }
    package var replyValue: JSONValue { .bool(self) }
}

extension String: ReplyValue {
    package static var replyShape: JSONShape { .string }
    package var replyValue: JSONValue { .string(self) }
}

extension Optional: ReplyValue where Wrapped: ReplyValue {
    package static var replyShape: JSONShape { .orNull(Wrapped.replyShape) }
    package var replyValue: JSONValue { self?.replyValue ?? .null }
}

extension Array: ReplyValue where Element: ReplyValue {
    package static var replyShape: JSONShape { .list(Element.replyShape) }
    package var replyValue: JSONValue { .array(self.map(\.replyValue)) }
}

/// Conformance for enumerations whose raw values are strings.
extension ReplyValue where Self: RawRepresentable<String> & CaseIterable {
    package static var replyShape: JSONShape { .words(Self.allCases.map(\.rawValue)) }
    package var replyValue: JSONValue { .string(self.rawValue) }
}

/// Conformance for JSON values that are made elsewhere; the member that contains the value describes its shape.
extension JSONValue: ReplyValue {
    package static var replyShape: JSONShape { .open }
    package var replyValue: JSONValue { self }
}
