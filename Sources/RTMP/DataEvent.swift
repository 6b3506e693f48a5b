import MediaTypes

/// What an encoder says to players in a data message, such as `onTextData` or `onCuePoint`: as JSON, for whoever reads no AMF.
package enum DataEvent {
    /// How such messages begin.
    private static let beginnings = DataMessageTime.named(["onTextData", "onCuePoint"])
    /// Bytes of the text; what has more is left out.
    package static let longest = 4_096

    /// Whether a message is one, by its first bytes. No allocation.
    static func isNamed(_ bytes: [UInt8], from offset: Int) -> Bool {
        DataMessageTime.isNamed(bytes, from: offset, among: self.beginnings)
    }

    /// An array of the values behind the name; `nil`: it is too long.
    package static func text(_ values: ArraySlice<AMF0Value>) -> String? {
        let text = JSONValue.array(values.map(\.json)).text
        return text.utf8.count <= self.longest ? text : nil
    }
}

extension AMF0Value {
    /// Fractions have three digits, and what JSON has no word for is null. As deep as the reader was.
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

    /// Of a name that comes twice the first counts.
    private static func members(_ properties: [AMF0Property]) -> [JSONValue.Member] {
        var seen: Set<String> = []
        return properties.filter { seen.insert($0.name).inserted }.map { JSONValue.Member($0.name, $0.value.json) }
    }
}
