/// Whether text for people is colored, and how.
package struct TerminalStyle: Sendable, Equatable {
    /// What a piece of text means to the reader.
    package enum Tone: Sendable, Equatable {
        case plain
        /// Something works again or has succeeded: green.
        case good
        /// Viewers may notice, and the room has recovered or tries to: yellow.
        case warning
        /// Something has failed: red.
        case bad
        /// Routine: dim.
        case dim
        /// Headings and important events: bold.
        case strong

        fileprivate var code: String {
            switch self {
            case .plain: ""
            case .good: "32"
            case .warning: "33"
            case .bad: "31"
            case .dim: "2"
            case .strong: "1"
            }
        }
    }

    package var isColored: Bool

    package init(isColored: Bool) { self.isColored = isColored }

    /// Text without escape sequences.
    package static let plain = TerminalStyle(isColored: false)

    /// Decides whether output is colored.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the output is a terminal.
    ///   - environment: Returns a variable of the environment; `nil`: it is not set. A `NO_COLOR` that is not empty
    ///     (<https://no-color.org>), and the terminal types `dumb` and none, disable color.
    package static func decide(isTerminal: Bool, environment: (String) -> String?) -> TerminalStyle {
        let noColor = environment("NO_COLOR").map { !$0.isEmpty } ?? false
        return TerminalStyle(isColored: !noColor && self.hasCursor(isTerminal: isTerminal, environment: environment))
    }

    /// Whether the output is a terminal that carries out escape sequences, such as those that move the cursor: any but the
    /// types `dumb` and none. Parameters as for ``decide(isTerminal:environment:)``.
    package static func hasCursor(isTerminal: Bool, environment: (String) -> String?) -> Bool {
        let type = environment("TERM") ?? ""
        return isTerminal && type != "dumb" && !type.isEmpty
    }

    /// Returns the text, with the escape sequences of its color if output is colored. The text must not contain escape
    /// sequences itself.
    package func paint(_ text: String, _ tone: Tone) -> String {
        self.isColored && !tone.code.isEmpty && !text.isEmpty ? "\u{1b}[\(tone.code)m\(text)\u{1b}[0m" : text
    }
}
