/// JSON that this process writes: events, state, summaries. Objects keep the order of their members.
package enum JSONValue: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number with at most three decimals, the finest resolution of any reported value.
    case thousandths(Int64)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One name and its value.
    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }

    package init(_ value: String?) { self = value.map { .string($0) } ?? .null }
    package init(_ value: Int) { self = .integer(Int64(value)) }
    package init(_ value: Int64) { self = .integer(value) }

    /// The value as one line of JSON text (RFC 8259).
    package var text: String {
        var out = ""
        self.write(to: &out)
        return out
    }

    private func write(to out: inout String) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += "\(value)"
        case .thousandths(let value): out += value.decimal(3)
        case .string(let value): Self.quote(value, to: &out)
        case .array(let values):
            out += "["
            for (index, value) in values.enumerated() {
                if index > 0 { out += "," }
                value.write(to: &out)
            }
            out += "]"
        case .object(let members):
            out += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { out += "," }
                Self.quote(member.name, to: &out)
                out += ":"
                member.value.write(to: &out)
            }
            out += "}"
        }
    }

    /// Appends `text` in quotes.
    ///
    /// Spec: RFC 8259 §7. Quotes, backslashes and control characters are escaped, everything else stays as it is.
    static func quote(_ text: String, to out: inout String) {
        out += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            // The C1 controls and line separators are legal but would upset terminals and JavaScript.
            case "\0"..<" ", "\u{7f}"..."\u{9f}", "\u{2028}"..."\u{2029}":
                out += "\\u" + scalar.value.padded(4, radix: 16)
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}
