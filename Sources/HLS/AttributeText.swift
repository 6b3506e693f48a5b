/// Escapes text for the quoted strings of playlists.
///
/// Spec: rfc8216bis §4.2: a quoted string has no line feed, carriage return or double quote, and is not empty.
enum AttributeText {
    /// Returns `text` in quotes, or `"-"` if nothing of it remains. A double quote becomes a single quote; control
    /// characters, line separators and byte order marks are dropped: titles and names are user input, and one of them
    /// must not break the playlist for every viewer.
    static func quoted(_ text: String) -> String {
        let result = self.clean(text)
        return "\"\(result.isEmpty ? "-" : result)\""
    }

    /// Returns `text` as ``quoted(_:)`` puts it between the quotes; may be empty.
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
}
