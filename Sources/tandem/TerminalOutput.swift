import Libc
import TerminalText

/// Facts about the terminal that standard output may be connected to.
enum TerminalOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The style of text on standard output: see ``TerminalStyle/decide(isTerminal:environment:)``.
    static var style: TerminalStyle {
        TerminalStyle.decide(isTerminal: self.isTerminal, environment: self.variable)
    }

    /// Whether lines on standard output can be drawn again in place.
    static var hasCursor: Bool {
        TerminalStyle.hasCursor(isTerminal: self.isTerminal, environment: self.variable)
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The size of the terminal in characters, of which `COLUMNS` overrides the width; 80 x 24 if it is not known.
    static var size: (columns: Int, rows: Int) {
        let columns = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (columns ?? 80, 24)
        }
        return (columns ?? Int(size.ws_col), Int(size.ws_row))
    }
}
