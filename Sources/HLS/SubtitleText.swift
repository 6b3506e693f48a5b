/// Makes the text of WebVTT cues from untrusted text.
package enum SubtitleText {
    /// Maximum size of a cue's text in bytes.
    package static let longest = 1_024

    /// Converts a text to a cue payload, which cannot end the cue or begin another block: line breaks are unified, empty
    /// lines and control characters are removed, and `&`, `<` and `>` are escaped.
    ///
    /// - Parameter markup: Whether the text is WebVTT cue text with tags and character references, which are kept; only
    ///   `-->`, which may not be in a cue, is still escaped.
    /// - Returns: The payload without a final line feed; empty if the text has no visible character.
    ///
    /// Spec: W3C WebVTT §4.2 (cue payload), §6.4.
    package static func payload(_ text: String, markup: Bool) -> String {
        var lines: [String] = [""]
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0A...0x0D, 0x85, 0x2028, 0x2029: lines.append("")
            case 0x09: lines[lines.count - 1] += " "
            case 0x00..<0x20, 0x7F..<0xA0, 0xFEFF: break
            case 0x26 where !markup: lines[lines.count - 1] += "&amp;"
            case 0x3C where !markup: lines[lines.count - 1] += "&lt;"
            case 0x3E where !markup: lines[lines.count - 1] += "&gt;"
            default: lines[lines.count - 1].unicodeScalars.append(scalar)
            }
        }
        let kept = lines.map(Self.trimmed).filter { !$0.isEmpty }.joined(separator: "\n")
        return markup ? Self.withoutArrows(kept) : kept
    }

    /// Escapes the `>` of each `-->`. Scalars are compared, because a combining mark after `>` makes it another character.
    private static func withoutArrows(_ text: String) -> String {
        var kept = String.UnicodeScalarView()
        var hyphens = 0
        for scalar in text.unicodeScalars {
            if scalar == ">", hyphens >= 2 {
                kept.append(contentsOf: "&gt;".unicodeScalars)
            } else {
                kept.append(scalar)
            }
            hyphens = scalar == "-" ? hyphens + 1 : 0
        }
        return String(kept)
    }

    /// Removes spaces from both ends of a line.
    private static func trimmed(_ line: String) -> String {
        let scalars = line.unicodeScalars
        guard let first = scalars.firstIndex(where: { $0 != " " }), let last = scalars.lastIndex(where: { $0 != " " })
        else { return "" }
        return String(scalars[first...last])
    }
}
