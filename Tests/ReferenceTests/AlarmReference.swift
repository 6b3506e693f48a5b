/// The table of every alarm, from the places in the sources that raise one.
struct AlarmReference {
    let sources: [(path: String, text: String)]

    private var raising: [(path: String, text: String)] {
        self.sources.filter { $0.text.contains("Alarm(") || $0.text.contains("alarmType") }
    }

    /// All types, those of sources first.
    var types: [String] {
        var types: Set<String> = []
        for (_, text) in self.raising {
            for match in text.matches(of: /[Aa]larm\(\s*"([a-z]+\.[a-z_]+)"/) { types.insert(String(match.output.1)) }
            for match in text.matches(of: /case \.[a-zA-Z]+: \(?"([a-z]+\.[a-z_]+)"/) {
                types.insert(String(match.output.1))
            }
            for match in text.matches(of: /static let type = "([a-z]+\.[a-z_]+)"/) {
                types.insert(String(match.output.1))
            }
        }
        let order = ["source", "encoder", "output", "config", "commands", "tls"]
        func rank(_ type: String) -> Int { order.firstIndex { type.hasPrefix("\($0).") } ?? order.count }
        return types.sorted { (rank($0), $0) < (rank($1), $1) }
    }

    /// Files that raise an alarm whose type is not a literal, and that name no type in another way either. The one that
    /// restores alarms of the worker before names none.
    var unknown: [String] {
        self.raising.filter { _, text in
            let calls = text.matches(of: /(?:Room|\.| )Alarm\(\s*([^\s,)]+)/).map { String($0.output.1) }
            let computed = calls.filter { !$0.hasPrefix("\"") && !$0.hasPrefix("id:") && !$0.hasPrefix("_") }
            let isNamed =
                text.contains(/case \.[a-zA-Z]+: \(?"[a-z]+\.[a-z_]+"/) || text.contains(/static let type = "/)
                || text.contains("alarmType")
            return !computed.isEmpty && !isNamed
        }.map(\.path).filter { !$0.hasSuffix("/CommandedState+Reading.swift") }
    }

    static let header = ["alarm", "scope", "severity", "cause", "what to do", "thresholds"]

    func text(_ page: String) -> String {
        "\n" + Markdown.merged(Self.header, self.types.map { [Markdown.code($0)] }, page: page) + "\n"
    }
}
