extension JSONNode {
    /// The value as JSON text: UTF-8, members in order, no trailing line break.
    ///
    /// - Parameter pretty: Indent by two spaces per level; short values stay on one line as in hand-written files.
    package func text(pretty: Bool = false) -> String {
        var text = ""
        self.write(to: &text, indentation: pretty ? 0 : nil)
        return text
    }

    private func write(to text: inout String, indentation: Int?) {
        switch self.content {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        // RFC 8259 §6 cannot represent infinities and NaN.
        case .number(let value): text += value.isFinite ? String(value) : "null"
        case .string(let value): JSONValue.quote(value, to: &text)
        case .array(let elements):
            // Arrays of scalars stay on one line, because they are short lists of words.
            let isFlat = elements.allSatisfy { !$0.isContainer }
            Self.writeList(
                "[", "]", elements, to: &text, indentation: isFlat ? nil : indentation, spaced: indentation != nil
            ) {
                $0.write(to: &$1, indentation: $2)
            }
        case .object(let members):
            Self.writeList("{", "}", members, to: &text, indentation: indentation, spaced: indentation != nil) {
                JSONValue.quote($0.key, to: &$1)
                $1 += $2 == nil ? ":" : ": "
                $0.value.write(to: &$1, indentation: $2)
            }
        }
    }

    private var isContainer: Bool {
        switch self.content {
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
}
