/// Writes flat JSON objects.
///
/// Spec: RFC 8259 §7 (what must be escaped).
package enum JSONText {
    package static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// - Parameter members: Keys with values that are JSON already.
    package static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(self.string($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }
}
