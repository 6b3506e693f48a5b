/// One member of a JSON object that this process writes.
package struct JSONField: Sendable, Hashable {
    package let name: String
    package let shape: JSONShape
    /// Description of the value, with its unit; empty if the name is sufficient.
    package let meaning: String
    /// Whether the member may be absent.
    package var isOptional: Bool
    private let shown: JSONValue?

    /// Creates the description of a member.
    ///
    /// - Parameter example: A value for documentation; `nil`: any value of the shape.
    package init(
        _ name: String, _ shape: JSONShape, _ meaning: String = "", isOptional: Bool = false, example: JSONValue? = nil
    ) {
        self.name = name
        self.shape = shape
        self.meaning = meaning
        self.isOptional = isOptional
        self.shown = example
    }

    /// This member, marked as optional.
    package var optional: JSONField {
        var field = self
        field.isOptional = true
        return field
    }

    package func schema(_ definitions: String) -> JSONValue {
        let meaning: [JSONValue.Member] = self.meaning.isEmpty ? [] : [.init("description", .string(self.meaning))]
        return .object(meaning + self.shape.keywords(definitions))
    }

    package func example(_ defined: [String: JSONShape]) -> JSONValue { self.shown ?? self.shape.example(defined) }
}
