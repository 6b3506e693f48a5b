/// The type of a JSON value that this process writes, from which the JSON Schema of the value is generated.
///
/// Spec: JSON Schema 2020-12.
package indirect enum JSONShape: Sendable, Hashable {
    case string
    case boolean
    case integer
    /// An integer in this range.
    case range(ClosedRange<Int64>)
    /// A number with at most three decimals.
    case number
    /// A date-time in UTC with milliseconds, such as `2026-01-31T20:00:00.000Z`.
    case date
    /// One of these strings.
    case words([String])
    /// Exactly this value.
    case always(JSONValue)
    case list(JSONShape)
    /// An object with these members and no others.
    case object([JSONField])
    /// An object whose member names are data, such as uids. All its values have the same shape.
    case map(JSONShape)
    /// An object with any members: its format is described elsewhere, or by another product.
    case open
    /// A shape that the same document defines under this name.
    case named(String)
    /// A value of the given shape, or null.
    case orNull(JSONShape)

    /// An integer that is 0 or more.
    package static let count = JSONShape.range(0...Int64.max)

    private static let datePattern = #"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"#

    /// The JSON Schema of the shape.
    ///
    /// - Parameter definitions: Path of the named shapes in the document, for example `#/$defs/`.
    package func schema(_ definitions: String) -> JSONValue { .object(self.keywords(definitions)) }

    func keywords(_ definitions: String) -> [JSONValue.Member] {
        switch self {
        case .string: return [.init("type", "string")]
        case .boolean: return [.init("type", "boolean")]
        case .integer: return [.init("type", "integer")]
        case .range(let range):
            let most: [JSONValue.Member] =
                range.upperBound == .max ? [] : [.init("maximum", .integer(range.upperBound))]
            return [.init("type", "integer"), .init("minimum", .integer(range.lowerBound))] + most
        case .number: return [.init("type", "number")]
        case .date: return [.init("type", "string"), .init("pattern", .string(Self.datePattern))]
        case .words(let words): return [.init("type", "string"), .init("enum", .array(words.map { .string($0) }))]
        case .always(let value): return [.init("const", value)]
        case .list(let element): return [.init("type", "array"), .init("items", element.schema(definitions))]
        case .object(let fields): return Self.object(fields, definitions)
        case .map(let value):
            return [.init("type", "object"), .init("additionalProperties", value.schema(definitions))]
        case .open: return [.init("type", "object"), .init("additionalProperties", true)]
        case .named(let name): return [.init("$ref", .string(definitions + name))]
        case .orNull(let shape): return Self.orNull(shape, definitions)
        }
    }

    private static func object(_ fields: [JSONField], _ definitions: String) -> [JSONValue.Member] {
        [
            .init("type", "object"),
            .init("properties", .object(fields.map { .init($0.name, $0.schema(definitions)) })),
            .init("required", .array(fields.filter { !$0.isOptional }.map { .string($0.name) })),
            .init("additionalProperties", false),
        ]
    }

    private static func orNull(_ shape: JSONShape, _ definitions: String) -> [JSONValue.Member] {
        var keywords = shape.keywords(definitions)
        guard case .string(let type)? = keywords.first(where: { $0.name == "type" })?.value else {
            return [.init("anyOf", [.object(keywords), ["type": "null"]])]
        }
        for index in keywords.indices {
            switch (keywords[index].name, keywords[index].value) {
            case ("type", _): keywords[index].value = [.string(type), "null"]
            case ("enum", .array(let words)): keywords[index].value = .array(words + [.null])
            default: break
            }
        }
        return keywords
    }

    // MARK: Examples

    /// An example of the shape, for documentation.
    ///
    /// - Parameter defined: The named shapes of the document.
    package func example(_ defined: [String: JSONShape]) -> JSONValue {
        switch self {
        case .string: "text"
        case .boolean: true
        case .integer: 1
        case .range(let range): .integer(min(max(range.lowerBound, 1), range.upperBound))
        case .number: .thousandths(1_500)
        case .date: "2026-01-31T20:00:00.000Z"
        case .words(let words): JSONValue(words.first)
        case .always(let value): value
        case .list(let element): [element.example(defined)]
        case .object(let fields): .object(fields.map { .init($0.name, $0.example(defined)) })
        case .map(let value): ["1001": value.example(defined)]
        case .open: [:]
        case .named(let name): defined[name]?.example(defined) ?? .null
        case .orNull(let shape): shape.example(defined)
        }
    }
}
