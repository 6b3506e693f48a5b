import MediaTypes

/// Tables and code spans in Markdown.
enum Markdown {
    /// Text for a table cell: characters that Markdown would interpret are escaped, except inside of code spans.
    static func cell(_ text: String) -> String {
        var cell = ""
        for (index, piece) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { cell += "`" }
            for character in piece {
                switch character {
                case "|": cell += "\\|"
                case "*" where index.isMultiple(of: 2): cell += "\\*"
                case "_" where index.isMultiple(of: 2): cell += "\\_"
                case "<" where index.isMultiple(of: 2): cell += "&lt;"
                case "\n": cell += " "
                default: cell.append(character)
                }
            }
        }
        return cell
    }

    static func code(_ text: String) -> String { text.isEmpty ? "" : "`\(text.replacing("|", with: "\\|"))`" }

    static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |\n" }

    /// - Parameter rows: Cells that are escaped already.
    static func table(_ header: [String], _ rows: [[String]]) -> String {
        guard !rows.isEmpty else { return "" }
        let line = "|\(String(repeating: "---|", count: header.count))\n"
        return self.row(header) + line + rows.map { self.row($0) }.joined()
    }

    /// The rows of the first table of a text, without its header.
    static func rows(of text: String) -> [[String]] {
        text.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            var cells: [String] = []
            var cell = ""
            var isEscaped = false
            for character in line.dropFirst() {
                if character == "|", !isEscaped {
                    cells.append(cell)
                    cell = ""
                } else {
                    cell.append(character)
                }
                isEscaped = character == "\\" && !isEscaped
            }
            return cells.map { $0.drop { $0 == " " } }.map { text in
                String(text.reversed().drop { $0 == " " }.reversed())
            }
        }
    }

    /// A table whose first columns are generated; the others are written by hand in the page, and kept.
    ///
    /// - Parameters:
    ///   - generated: The cells of the generated columns, one list for each row; the first cell identifies the row.
    ///   - page: The table as the page has it.
    /// - Returns: The table. A row that is new has empty cells in the columns that are written by hand.
    static func merged(_ header: [String], _ generated: [[String]], page: String) -> String {
        let known = Dictionary(self.rows(of: page).compactMap { row in row.first.map { ($0, row) } }) { first, _ in
            first
        }
        return self.table(
            header,
            generated.map { cells in
                let own = known[cells[0]].map { Array($0.dropFirst(cells.count)) } ?? []
                let missing = max(0, header.count - cells.count - own.count)
                return cells + own + [String](repeating: "", count: missing)
            })
    }
}
