package import MediaTypes

/// Findings about a machine: what works, what is doubtful and what does not work, each with a remedy.
package struct DoctorReport: Sendable, Equatable {
    package enum Level: String, Sendable {
        case ok
        /// Rooms run, but something is missing or slower than it should be.
        case warning
        /// Rooms do not run, or not the one that was given.
        case error

        fileprivate var tone: TerminalStyle.Tone {
            switch self {
            case .ok: .good
            case .warning: .warning
            case .error: .bad
            }
        }
    }

    package struct Finding: Sendable, Equatable {
        package var level: Level
        /// The subject: `ffmpeg`, `encoders`, `fonts`, `limits`, `clock`, `ports`, `disk` or `network`.
        package var area: String
        package var what: String
        /// What to do; `nil` if there is nothing to do.
        package var fix: String?

        package init(_ level: Level, _ area: String, _ what: String, fix: String? = nil) {
            self.level = level
            self.area = area
            self.what = what
            self.fix = fix
        }
    }

    package var findings: [Finding]

    package init(findings: [Finding]) { self.findings = findings }

    /// Whether a finding is an error.
    package var hasErrors: Bool { self.findings.contains { $0.level == .error } }

    /// One line for each finding, and one for its remedy; then how many warnings and errors there are.
    package func text(_ style: TerminalStyle) -> String {
        var text = ""
        for finding in self.findings {
            let level = style.paint(TextWidth.pad(finding.level.rawValue, to: 7), finding.level.tone)
            text += "\(level)  \(TextWidth.pad(finding.area, to: 7))  \(TextWidth.clean(finding.what))\n"
            if let fix = finding.fix { text += "                  Fix: \(TextWidth.clean(fix))\n" }
        }
        func count(_ level: Level, _ word: String) -> String {
            let number = self.findings.count { $0.level == level }
            return "\(number) \(word)\(number == 1 ? "" : "s")"
        }
        return text + "\(count(.error, "error")), \(count(.warning, "warning"))\n"
    }

    /// The report as a JSON object with the members `ok` and `findings`.
    package var json: JSONValue {
        [
            "ok": .bool(!self.hasErrors),
            "findings": .array(
                self.findings.map {
                    [
                        "level": .string($0.level.rawValue), "area": .string($0.area), "what": .string($0.what),
                        "fix": JSONValue($0.fix),
                    ]
                }),
        ]
    }
}
