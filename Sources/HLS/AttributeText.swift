/// Escapes text for the quoted strings of playlists.
///
/// Spec: rfc8216bis §4.2: a quoted string has no line feed, carriage return or double quote, and is not empty.
enum AttributeText {
    /// `text` in quotes. A double quote becomes a single quote and control characters are dropped: titles and names are
    /// user input, and one of them must not break the playlist for every viewer.
    static func quoted(_ text: String) -> String {
        let result = self.clean(text)
        return "\"\(result.isEmpty ? "-" : result)\""
    }

    /// The text that ``quoted(_:)`` puts between the quotes.
    static func clean(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: result.unicodeScalars.append("'")
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF: continue
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// `value / 10^digits` in decimal, with exactly `digits` digits after the point.
    static func decimal(_ value: Int64, digits: Int) -> String {
        var unit: Int64 = 1
        for _ in 0..<digits { unit *= 10 }
        let magnitude = value.magnitude
        let fraction = String(magnitude % UInt64(unit))
        let padding = String(repeating: "0", count: max(0, digits - fraction.utf8.count))
        return "\(value < 0 ? "-" : "")\(magnitude / UInt64(unit)).\(padding)\(fraction)"
    }
}
