/// A JSON value to be written, for example an event or a state. Objects keep the order of their members.
package enum JSONValue: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number given in thousandths, written with three decimals; no reported value has a finer resolution.
    case thousandths(Int64)
    /// Any other number, as read from JSON text; an infinity or NaN is written as `null`.
    case number(Double)
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
    package var text: String { self.text(pretty: false) }

    /// The value as JSON text: members in order, no trailing line break.
    ///
    /// - Parameter pretty: Whether to indent by two spaces per level; arrays of plain values stay on one line.
    package func text(pretty: Bool) -> String {
        var out = ""
        self.write(to: &out, indentation: pretty ? 0 : nil)
        return out
    }

    private func write(to out: inout String, indentation: Int?) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += "\(value)"
        case .thousandths(let value): out += value.decimal(3)
        // RFC 8259 §6 cannot represent infinities and NaN.
        case .number(let value): out += value.isFinite ? String(value) : "null"
        case .string(let value): Self.quote(value, to: &out)
        case .array(let values):
            // Arrays of scalars stay on one line, because they are short lists of words.
            let isFlat = values.allSatisfy { !$0.isContainer }
            Self.writeList(
                "[", "]", values, to: &out, indentation: isFlat ? nil : indentation, spaced: indentation != nil
            ) {
                $0.write(to: &$1, indentation: $2)
            }
        case .object(let members):
            Self.writeList("{", "}", members, to: &out, indentation: indentation, spaced: indentation != nil) {
                Self.quote($0.name, to: &$1)
                $1 += $2 == nil ? ":" : ": "
                $0.value.write(to: &$1, indentation: $2)
            }
        }
    }

    private var isContainer: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }

    private static func writeList<Element>(
        _ open: String, _ close: String, _ elements: [Element], to text: inout String, indentation: Int?, spaced: Bool,
        write: (Element, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indentation.map { $0 + 2 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += inner == nil && spaced ? ", " : "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            write(element, &text, inner)
        }
        if let indentation, !elements.isEmpty { text += "\n" + String(repeating: " ", count: indentation) }
        text += close
    }

    /// Appends `text` in quotes.
    ///
    /// Spec: RFC 8259 §7. Quotes, backslashes, control characters and the separators U+2028 and U+2029 are escaped;
    /// everything else stays as it is.
    private static func quote(_ text: String, to out: inout String) {
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
