import MediaTypes

/// An `onTextData` or `onCuePoint` message from an encoder to players, converted to JSON for clients that do not read
/// AMF.
package enum DataEvent {
    /// The first bytes of `onTextData` and `onCuePoint` messages.
    private static let beginnings = DataMessageTime.named(["onTextData", "onCuePoint"])
    /// Maximum size of the JSON text in bytes; longer messages are dropped.
    package static let longest = 4_096

    /// Returns whether a message is `onTextData` or `onCuePoint`, judging by its first bytes. No allocation.
    static func isNamed(_ bytes: [UInt8], from offset: Int) -> Bool {
        DataMessageTime.isNamed(bytes, from: offset, among: self.beginnings)
    }

    /// Returns the values after the name as a JSON array; `nil` if the text is longer than ``longest``.
    package static func text(_ values: ArraySlice<AMF0Value>) -> String? {
        let text = JSONValue.array(values.map(\.json)).text
        return text.utf8.count <= self.longest ? text : nil
    }
}

extension AMF0Value {
    /// The value as JSON. Fractions are cut to three digits; a date becomes its milliseconds since 1970. Values that JSON
    /// cannot express become null, and so do fractions of 10^12 or more. The nesting depth is bounded by the reader.
    var json: JSONValue {
        switch self {
        case .number(let number), .date(let number): Self.json(number)
        case .boolean(let value): .bool(value)
        case .string(let text), .xml(let text): .string(text)
        case .object(let properties), .ecmaArray(let properties), .typedObject(_, let properties):
            .object(Self.members(properties))
        case .strictArray(let values): .array(values.map(\.json))
        case .null, .undefined, .reference, .unsupported: .null
        }
    }

    private static func json(_ number: Double) -> JSONValue {
        if let whole = Int64(exactly: number) { return .integer(whole) }
        guard number.magnitude < 1e12 else { return .null }
        return .thousandths(Int64(number * 1000))
    }

    /// Returns the properties as members of a JSON object. If a name occurs twice, the first property counts.
    private static func members(_ properties: [AMF0Property]) -> [JSONValue.Member] {
        var seen: Set<String> = []
        return properties.filter { seen.insert($0.name).inserted }.map { JSONValue.Member($0.name, $0.value.json) }
    }
}
