/// Functions for the help texts of commands.
package enum HelpText {
    /// Returns the text with its usage lines wrapped at `columns` columns, between options and never within one. The
    /// parser of the command line wraps the rest of a help text, but not these lines.
    package static func wrappingUsage(_ text: String, columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isUsage = line.hasPrefix("USAGE: ") || line.hasPrefix("Usage: ")
            return isUsage && TextWidth.columns(String(line)) > columns ? self.wrap(line, columns) : String(line)
        }.joined(separator: "\n")
    }

    private static func wrap(_ line: Substring, _ columns: Int) -> String {
        let indentation = "       "
        var (lines, current): ([String], String) = ([], "")
        for word in self.words(line) {
            if current.isEmpty {
                current = word
            } else if TextWidth.columns(current) + 1 + TextWidth.columns(word) > columns {
                lines.append(current)
                current = indentation + word
            } else {
                current += " " + word
            }
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// The parts of a usage line: words, and options with their brackets.
    private static func words(_ line: Substring) -> [String] {
        var (words, word, depth) = ([String](), "", 0)
        for character in line {
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            if character == " ", depth <= 0 {
                words.append(word)
                word = ""
            } else {
                word.append(character)
            }
        }
        return words + [word]
    }
}
