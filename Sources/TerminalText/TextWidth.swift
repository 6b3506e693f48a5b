/// Functions for text in a terminal: columns, and characters that a terminal would act on.
package enum TextWidth {
    /// Scalars that take two columns, by ranges: Hangul, CJK, full-width forms and pictographs.
    ///
    /// Spec: Unicode Standard Annex #11, classes W and F, without rare scripts. Those of other emoji follow from
    /// `isEmojiPresentation`.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD,
    ]

    /// Returns the number of terminal columns that the text takes. Escape sequences are not recognized.
    package static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + self.columns(of: $1) }
    }

    private static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // U+FE0F asks for the emoji form of a character that has two.
        let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}")
        return isEmoji || self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// Returns the text with spaces at its end, so that it takes at least `columns` columns.
    package static func pad(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - self.columns(text)))
    }

    /// Returns the text with spaces before it, so that it takes at least `columns` columns.
    package static func padLeft(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - self.columns(text))) + text
    }

    /// Returns the beginning of the text that fits in `columns` columns, with `…` at its end if it was cut.
    package static func clip(_ text: String, to columns: Int) -> String {
        guard self.columns(text) > columns else { return text }
        var (kept, width) = ("", 0)
        for character in text {
            let next = width + self.columns(of: character)
            if next > columns - 1 { break }
            kept.append(character)
            width = next
        }
        return columns > 0 ? kept + "…" : ""
    }

    /// Returns the text with `?` in place of control and formatting characters, except joiners. Names and titles come from
    /// publishers, and a terminal would carry out escape sequences in them, or show bidirectional text in another order.
    package static func clean(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            // Joiners are part of many emoji and of Indic and Arabic words.
            case .format where scalar == "\u{200D}" || scalar == "\u{200C}": result.unicodeScalars.append(scalar)
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: result += "?"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns the lines of the text, each as ``clean(_:)`` returns it. For text that is shown as a server sent it.
    package static func cleanLines(_ text: String) -> String {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { self.clean(String($0)) }
            .joined(separator: "\n")
    }
}
