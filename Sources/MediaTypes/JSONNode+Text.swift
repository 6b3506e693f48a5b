extension JSONNode {
    /// The value without its position.
    package var value: JSONValue {
        switch self.content {
        case .null: .null
        case .boolean(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.value))
        case .object(let members): .object(members.map { .init($0.key, $0.value.value) })
        }
    }

    /// The value as JSON text: UTF-8, members in order, no trailing line break.
    ///
    /// - Parameter pretty: Whether to indent by two spaces per level; arrays of plain values stay on one line.
    package func text(pretty: Bool = false) -> String { self.value.text(pretty: pretty) }
}
