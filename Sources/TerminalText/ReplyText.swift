import MediaTypes

/// Prints replies of the control API for people.
package struct ReplyText: Sendable {
    /// What a reply contains, which determines how it is printed.
    package enum Kind: Sendable {
        /// The state of the room: tables of sources, renditions, outputs and alarms.
        case room
        /// Statistics: a table of sources.
        case statistics
        case events
        case alarms
        case logs
        /// Any object: a line for each member.
        case members
        /// A document that programs read as well: indented JSON.
        case document
        /// Text that is not JSON.
        case text
    }

    let style: TerminalStyle

    package init(style: TerminalStyle) { self.style = style }

    /// Returns the text for a reply. A reply that is not JSON is returned as it is, with `?` in place of control characters.
    package func text(_ reply: [UInt8], _ kind: Kind) -> String {
        guard kind != .text, let node = JSONParser.parse(reply, limit: reply.count).faultless else {
            return TextWidth.cleanLines(String(decoding: reply, as: UTF8.self))
        }
        let lines: [String]
        switch kind {
        case .room: lines = self.room(node)
        case .statistics: lines = self.statistics(node)
        case .events: lines = (node[key: "events"]?.array ?? []).compactMap { EventText(style: self.style).text($0) }
        case .alarms: lines = self.alarms(node[key: "alarms"]?.array ?? [])
        case .logs: lines = (node[key: "lines"]?.array ?? []).map(self.log)
        case .members: lines = Self.members(node)
        case .document, .text: lines = [node.text(pretty: true)]
        }
        return (lines.isEmpty ? ["none"] : lines).map { $0 + "\n" }.joined()
    }

    /// Returns the text for a refused request: a line with what is wrong, the remedy and the error code, and a line for
    /// each mistake in the request's document; the reply itself, with `?` in place of control characters, if it is not a
    /// problem in JSON. It ends with a line break.
    package static func refusal(_ reply: [UInt8]) -> String {
        guard let node = JSONParser.parse(reply, limit: reply.count).faultless,
            let detail = node[key: "detail"]?.string
        else {
            let text = TextWidth.cleanLines(String(decoding: reply, as: UTF8.self))
            return text.hasSuffix("\n") ? text : text + "\n"
        }
        let fix = node[key: "fix"]?.string.map { ". Fix: \($0)" } ?? ""
        let code = node[key: "code"]?.string.map { " [\($0)]" } ?? ""
        var lines = [TextWidth.clean(detail + fix + code)]
        for mistake in node[key: "errors"]?.array ?? [] {
            let parts = [mistake[key: "path"]?.string, mistake[key: "what"]?.string].compactMap { $0 }
            let fix = mistake[key: "fix"]?.string.map { ". Fix: \($0)" } ?? ""
            if !parts.isEmpty { lines.append(TextWidth.clean("  \(parts.joined(separator: ": "))\(fix)")) }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    // MARK: Parts

    func alarms(_ alarms: [JSONNode]) -> [String] {
        guard !alarms.isEmpty else { return [] }
        var table = TextTable(["severity", "state", "about", "since", "alarm", "what is wrong"])
        for alarm in alarms {
            let severity = alarm[key: "severity"]?.string ?? ""
            let isSet = alarm[key: "state"]?.string != "cleared"
            let scope = [alarm[key: "scope"]?[key: "kind"], alarm[key: "scope"]?[key: "id"]].compactMap { $0?.string }
            table.add([
                .init(Self.word(severity), isSet ? EventPhrase.tone(ofLevel: severity) : .dim),
                .init(Self.value(alarm, "state")), .init(TextWidth.clean(scope.joined(separator: " "))),
                .init(alarm[key: "setAt"].map { EventValue.text($0, "clock") } ?? ""), .init(Self.value(alarm, "type")),
                .init(Self.value(alarm, "message")),
            ])
        }
        return table.lines(self.style)
    }

    private func log(_ line: JSONNode) -> String {
        guard case .object(let members) = line.content else { return TextWidth.clean(line.string ?? line.text()) }
        let common: Set<String> = ["ts", "level", "msg", "logger", "room", "instance", "incarnation"]
        let details = members.filter { !common.contains($0.key) }.map { " \($0.key)=\(EventValue.text($0.value))" }
        let time = line[key: "ts"].map { EventValue.text($0, "clock") } ?? ""
        let level = line[key: "level"]?.string ?? ""
        let tone: TerminalStyle.Tone =
            ["error", "critical"].contains(level) ? .bad : level == "warning" ? .warning : .plain
        let text = TextWidth.clean("\(level) \(Self.value(line, "msg"))\(details.joined())")
        return "\(self.style.paint(TextWidth.clean(time), .dim)) \(self.style.paint(text, tone))"
    }

    /// One line for each member of an object: its path, such as `health.level`, and its value.
    static func members(_ node: JSONNode) -> [String] {
        var rows: [(path: String, value: String)] = []
        self.collect(node, "", &rows)
        let width = min(32, rows.map { TextWidth.columns($0.path) }.max() ?? 0)
        return rows.map { "\(TextWidth.pad($0.path, to: width))  \($0.value)" }
    }

    private static func collect(_ node: JSONNode, _ path: String, _ rows: inout [(path: String, value: String)]) {
        switch node.content {
        case .object(let members) where !members.isEmpty:
            for member in members {
                let key = TextWidth.clean(member.key)
                self.collect(member.value, path.isEmpty ? key : "\(path).\(key)", &rows)
            }
        case .array(let elements) where elements.contains(where: Self.isObject):
            for (index, element) in elements.enumerated() { self.collect(element, "\(path)[\(index)]", &rows) }
        case .array(let elements) where elements.isEmpty: rows.append((path, "none"))
        default: rows.append((path, EventValue.text(node)))
        }
    }

    private static func isObject(_ node: JSONNode) -> Bool {
        if case .object = node.content { true } else { false }
    }

    /// The text of a member of an object; empty if it is missing or null.
    static func value(_ node: JSONNode?, _ key: String, _ form: String = "") -> String {
        guard let value = node?[key: key], value.content != .null else { return "" }
        return EventValue.text(value, form)
    }

    /// A severity or state in words.
    static func word(_ level: String) -> String { TextWidth.clean(level.replacing("_", with: " ")) }
}
