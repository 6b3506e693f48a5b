/// One error or warning about a pipeline file: its position, what is wrong, and the remedy.
package struct SpecDiagnostic: Sendable, Hashable {
    /// JSON path of the value, for example `renditions[2].height`; empty for the document.
    package var path: String
    package var position: SpecPosition
    /// What is wrong, without trailing period. Never contains a secret.
    package var what: String
    /// What the operator should do, without trailing period.
    package var fix: String

    package init(path: String, at position: SpecPosition, what: String, fix: String) {
        self.path = path
        self.position = position
        self.what = what
        self.fix = fix
    }

    /// Line in the file from 1; 0 if the mistake is in a flag or has no position.
    package var line: Int { if case .text(let line, _) = self.position { line } else { 0 } }
    /// Column in the file from 1; 0 if the mistake is in a flag or has no position.
    package var column: Int { if case .text(_, let column) = self.position { column } else { 0 } }
    /// The flag with the mistake, for example `--set canvas.width`, without its value, which may be a secret; `nil` if
    /// the mistake is not in a flag.
    package var flag: String? { if case .flag(let path, _) = self.position { "--set \(path)" } else { nil } }

    /// Returns the message `FILE:LINE:COLUMN: path: what. Fix: remedy`, with the flag instead of `FILE:LINE:COLUMN` if
    /// the mistake is in a flag, and without line and column if it has no position.
    package func text(file: String) -> String {
        let place = self.flag ?? (self.line > 0 ? "\(file):\(self.line):\(self.column)" : file)
        let subject = self.path.isEmpty ? "" : "\(self.path): "
        return "\(place): \(subject)\(self.what). Fix: \(self.fix)"
    }

    /// The message as a JSON object with the members `path`, `what` and `fix`, and with `line` and `column`, or `flag`,
    /// if the mistake has a position.
    package var json: JSONNode {
        var members = [JSONMember("path", .string(self.path))]
        if let flag {
            members.append(JSONMember("flag", .string(flag)))
        } else if self.line > 0 {
            members += [JSONMember("line", .integer(self.line)), JSONMember("column", .integer(self.column))]
        }
        return .object(members + [JSONMember("what", .string(self.what)), JSONMember("fix", .string(self.fix))])
    }
}
