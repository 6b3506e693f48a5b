/// A table with aligned columns for a terminal.
package struct TextTable: Sendable, Equatable {
    /// One cell; its tone colors the text.
    package struct Cell: Sendable, Equatable, ExpressibleByStringLiteral {
        package var text: String
        package var tone: TerminalStyle.Tone

        package init(_ text: String, _ tone: TerminalStyle.Tone = .plain) {
            self.text = text
            self.tone = tone
        }

        package init(stringLiteral value: String) { self.init(value) }
    }

    /// The headings of the columns.
    package let head: [String]
    /// The rows; cells beyond the headings are left out.
    package var rows: [[Cell]] = []

    package init(_ head: [String]) { self.head = head }

    package mutating func add(_ row: [Cell]) { self.rows.append(row) }

    /// Returns the lines of the table: the headings, then the rows, with two spaces between columns and
    /// without spaces at the end.
    ///
    /// - Parameter limit: Maximum number of columns of the terminal; longer lines are cut. `nil`: no limit.
    package func lines(_ style: TerminalStyle, limit: Int? = nil) -> [String] {
        var widths = self.head.map(TextWidth.columns)
        for row in self.rows {
            for (index, cell) in row.enumerated() where index < widths.count {
                widths[index] = max(widths[index], TextWidth.columns(cell.text))
            }
        }
        let head = self.head.map { Cell($0.uppercased(), .dim) }
        return ([head] + self.rows).map { self.line($0, widths, style, limit) }
    }

    private func line(_ row: [Cell], _ widths: [Int], _ style: TerminalStyle, _ limit: Int?) -> String {
        let cells = Array(row.prefix(widths.count))
        let last = cells.lastIndex { !$0.text.isEmpty } ?? -1
        // The spaces between the text so far and the next cell.
        var (line, used, gap) = ("", 0, 0)
        for (index, cell) in cells.enumerated() where index <= last {
            let space = limit.map { max(0, $0 - used - gap) } ?? .max
            let text = TextWidth.clip(cell.text, to: space)
            if space == 0 { break }
            line += String(repeating: " ", count: gap) + style.paint(text, cell.tone)
            let width = TextWidth.columns(text)
            used += gap + width
            gap = max(0, widths[index] - width) + 2
        }
        return line
    }

    /// Returns the whole table as text: all lines of ``lines(_:limit:)`` at full length, each with a line break.
    package func text(_ style: TerminalStyle) -> String {
        self.lines(style).map { $0 + "\n" }.joined()
    }
}
