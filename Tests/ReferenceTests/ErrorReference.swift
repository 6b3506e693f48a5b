import MediaTypes

/// The tables of error codes, refusals of publishers, errors that end a worker, and exit codes.
struct ErrorReference {
    let sources: [(path: String, text: String)]

    private func source(_ name: String) -> String { self.sources.first { $0.path.hasSuffix("/\(name)") }?.text ?? "" }

    // MARK: Codes

    static let codeHeader = ["code", "number", "HTTP status", "meaning", "what to do"]

    func codes(_ page: String) -> String {
        let rows = ErrorCode.allCases.map { [Markdown.code($0.rawValue), "\($0.number)"] }
        return "\n" + Markdown.merged(Self.codeHeader, rows, page: page) + "\n"
    }

    // MARK: Refusals

    /// A reason to refuse a publisher.
    struct Refusal {
        let name: String
        let status: String
        let text: String
        let code: String
        let srtCode: String
    }

    static let refusalHeader = ["text at the encoder", "code", "RTMP status", "SRT code", "cause", "what to do"]

    var refusals: [Refusal] {
        let srt = self.srtCodes
        return self.source("PublishRefusal.swift").matches(
            of:
                /static (?:let|func) (\w+)[^"]*?PublishRefusal\(\s*code: "([^"]+)",\s*text:\s*"([^"]+)"(?:,\s*errorCode: \.(\w+))?\s*\)/
        ).map { match in
            let name = String(match.output.1)
            return Refusal(
                name: name, status: String(match.output.2),
                text: String(match.output.3).replacing(/\\\(\w+\)/, with: "…"),
                code: match.output.4.map(String.init) ?? "authDenied", srtCode: srt[name] ?? srt["default"] ?? "")
        }
    }

    private var srtCodes: [String: String] {
        let text = self.source("SRTStreamID.swift")
        guard let start = text.firstRange(of: "var srtCode: Int {") else { return [:] }
        var codes: [String: String] = [:]
        for line in text[start.upperBound...].prefix(while: { $0 != "}" }).split(separator: "\n") {
            guard let match = line.firstMatch(of: /(case .*|default): ([0-9]+)$/) else { continue }
            let names = match.output.1.matches(of: /\.(\w+)/).map { String($0.output.1) }
            for name in names.isEmpty ? ["default"] : names { codes[name] = String(match.output.2) }
        }
        return codes
    }

    func refusals(_ page: String) -> String {
        let rows = self.refusals.map {
            [Markdown.cell($0.text), Markdown.code($0.code), Markdown.code($0.status), $0.srtCode]
        }
        return "\n" + Markdown.merged(Self.refusalHeader, rows, page: page) + "\n"
    }

    // MARK: Errors that end a worker

    static let workerHeader = ["code", "exit code", "meaning", "what to do"]

    /// The codes of errors that end a worker, with their exit codes.
    var workerCodes: [(code: String, exit: String)] {
        let text = self.source("ExitStatus.swift")
        var numbers: [String: String] = [:]
        for match in text.matches(of: /case (\w+) = ([0-9]+)/) {
            numbers[String(match.output.1)] = String(match.output.2)
        }
        var exits: [String: String] = [:]
        for match in text.matches(of: /(case .*|default): self = \.(\w+)/) {
            let names = match.output.1.matches(of: /\.(\w+)/).map { String($0.output.1) }
            for name in names.isEmpty ? ["default"] : names { exits[name] = numbers[String(match.output.2)] }
        }
        return self.source("MediaError.swift").matches(of: /static let `?(\w+)`? = Code\(/).map { match in
            let code = String(match.output.1)
            return (code, exits[code] ?? exits["default"] ?? "")
        }
    }

    func worker(_ page: String) -> String {
        let rows = self.workerCodes.map { [Markdown.code($0.code), $0.exit] }
        return "\n" + Markdown.merged(Self.workerHeader, rows, page: page) + "\n"
    }

    // MARK: Exit codes

    static let exitHeader = ["exit code", "meaning", "what an orchestrator does"]

    /// The exit codes of `tandem run`.
    var exitCodes: [String] {
        self.source("ExitStatus.swift").matches(of: /case \w+ = ([0-9]+)/).map { String($0.output.1) }
    }

    /// Exit codes of other commands.
    var otherExitCodes: Set<String> {
        let tool = self.sources.filter { $0.path.hasPrefix("Sources/tandem/") }
        let literal = tool.flatMap { $0.text.matches(of: /ExitCode\(([0-9]+)\)/).map { String($0.output.1) } }
        let failure = tool.contains { $0.text.contains("ExitCode.failure") || $0.text.contains("ExitCode(1)") }
        return Set(literal + (failure ? ["1"] : []))
    }

    func exits(_ page: String) -> String {
        "\n" + Markdown.merged(Self.exitHeader, self.exitCodes.map { [$0] }, page: page) + "\n"
    }
}
