import MediaTypes

/// A value of a YAML document, limited to what manifests need.
package indirect enum YAMLNode: Sendable, Hashable {
    /// Text, quoted if it could be read as another type.
    case text(String)
    case number(Int64)
    case boolean(Bool)
    /// Text of several lines, written as a literal block.
    case block(String)
    case list([YAMLNode])
    case map([YAMLEntry])
    /// A short map that is written on one line.
    case flow(YAMLNode)
    /// A value with a comment that is written before its key; the lines of the comment have no `#`.
    case commented(YAMLNode, [String])
    /// A short list of texts that is written on one line.
    case words([String])
}

/// A key of a map and its value.
package struct YAMLEntry: Sendable, Hashable {
    package var key: String
    package var value: YAMLNode

    /// Creates an entry of a map.
    ///
    /// - Parameter comment: Lines of a comment before the key, without the `#`.
    package init(_ key: String, _ value: YAMLNode, _ comment: String...) {
        self.key = key
        self.value = comment.isEmpty ? value : .commented(value, comment)
    }
}

extension YAMLNode: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(arrayLiteral elements: YAMLNode...) { self = .list(elements) }
    package init(dictionaryLiteral elements: (String, YAMLNode)...) {
        self = .map(elements.map { YAMLEntry($0.0, $0.1) })
    }

    package static func noted(_ value: YAMLNode, _ comment: String...) -> YAMLNode {
        .commented(value, comment)
    }
}

extension YAMLNode {
    /// The document as text, with two spaces per indentation level and a final line break.
    ///
    /// Spec: YAML 1.2.2. Text is left unquoted only if it is a string by the core schema (§10.3) and by YAML 1.1, which
    /// parsers of orchestrators still use.
    package var document: String {
        var text = ""
        self.write(to: &text, indentation: 0, afterDash: false)
        return text
    }

    private func write(to text: inout String, indentation: Int, afterDash: Bool) {
        switch self {
        case .map(let entries) where !entries.isEmpty:
            for (index, entry) in entries.enumerated() {
                var (value, comment): (YAMLNode, [String]) = (entry.value, [])
                if case .commented(let inner, let lines) = value { (value, comment) = (inner, lines) }
                let isInline = afterDash && index == 0 && comment.isEmpty
                if afterDash, index == 0, !comment.isEmpty { text += "\n" }
                for line in comment { text += Self.spaces(indentation) + "# \(line)\n" }
                text += (isInline ? "" : Self.spaces(indentation)) + Self.scalar(entry.key) + ":"
                value.writeValue(to: &text, indentation: indentation)
            }
        case .list(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                text += afterDash && index == 0 ? "- " : Self.spaces(indentation) + "- "
                element.write(to: &text, indentation: indentation + 2, afterDash: true)
            }
        default: text += self.line + "\n"
        }
    }

    /// Writes the value after a key and its colon.
    private func writeValue(to text: inout String, indentation: Int) {
        switch self {
        case .map([]), .list([]): text += " " + self.line + "\n"
        case .map, .list:
            text += "\n"
            self.write(to: &text, indentation: indentation + 2, afterDash: false)
        case .block(let block) where Self.isPlainBlock(block):
            // §8.1.1: `|` keeps a final line break, `|-` does not have one.
            text += block.hasSuffix("\n") ? " |\n" : " |-\n"
            var lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            if block.hasSuffix("\n") { lines.removeLast() }
            for line in lines { text += line.isEmpty ? "\n" : Self.spaces(indentation + 2) + line + "\n" }
        default: text += " " + self.line + "\n"
        }
    }

    /// The text of the value on one line.
    private var line: String {
        switch self {
        case .text(let text), .block(let text): Self.scalar(text)
        case .number(let number): "\(number)"
        case .boolean(let value): value ? "true" : "false"
        case .words(let words): "[" + words.map(Self.scalar).joined(separator: ", ") + "]"
        case .flow(let node), .commented(let node, _): node.line
        case .map(let entries):
            "{" + entries.map { "\(Self.scalar($0.key)): \($0.value.line)" }.joined(separator: ", ") + "}"
        case .list(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
        }
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    /// Returns whether the text can be a literal block: it must not begin with a space or a line break, must not end
    /// with two line breaks, and must contain only printable characters and line breaks.
    private static func isPlainBlock(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first != " ", first != "\n", !text.hasSuffix("\n\n") else {
            return false
        }
        return text.unicodeScalars.allSatisfy { self.isPrintable($0) || $0 == "\n" }
    }

    /// Returns the text unquoted if every parser reads it as a string, otherwise in double quotes (§7.3.1).
    static func scalar(_ text: String) -> String {
        self.isPlain(text) ? text : self.quoted(text)
    }

    /// Words that some parsers, including those for YAML 1.1, read as a boolean or as null.
    private static let words: Set<String> = [
        "true", "false", "yes", "no", "on", "off", "y", "n", "null", "~", ".nan", ".inf",
    ]

    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, !self.words.contains(text.lowercased()) else { return false }
        // Text that begins with a digit, a sign or a dot may be a number, a date or a time, so it is quoted.
        return (first.isLetter || first == 0x2f) && text.isPlain(marks: "-./_")
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\t": out += "\\t"
            case _ where !self.isPrintable(scalar): out += "\\U\(scalar.value.padded(8, radix: 16))"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }

    /// Returns whether the scalar is printable by §5.1, excluding all line breaks and byte order marks.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7e, 0xa0...0x2027, 0x202a...0xd7ff, 0xe000...0xfefe, 0xff00...0xfffd, 0x10000...0x10ffff: true
        default: false
        }
    }
}
