package import MediaTypes

/// A live view of a room: its state, frame number, lag and alarms, and its sources with their loudness.
package struct WatchView: Sendable {
    /// Columns of a level meter, for the loudness from -60 LUFS to 0.
    private static let meterColumns = 20
    private static let quietest = 60.0

    private let style: TerminalStyle

    package init(style: TerminalStyle) { self.style = style }

    /// Returns one line for a log: time, state, scene, frame number, lag, sources with their loudness, and alarms.
    ///
    /// - Parameter room: The reply to `GET /v1/room`.
    package func line(_ room: JSONNode) -> String {
        let program = room[key: "program"]
        let sources = (room[key: "sources"]?.array ?? []).map { source in
            [ReplyText.name(of: source), ReplyText.value(source, "state"), ReplyText.loudness(source)]
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
        let alarms = (room[key: "alarms"]?.array ?? []).filter { $0[key: "state"]?.string != "cleared" }
        let shown = alarms.map { TextWidth.clean($0[key: "message"]?.string ?? "") }.joined(separator: "; ")
        return [
            ReplyText.value(room, "time", "clock"), ReplyText.value(room, "state"),
            "scene \(ReplyText.value(program, "scene"))", "frame \(ReplyText.value(program, "tick"))",
            "lag \(ReplyText.value(room[key: "latency"]?[key: "program"], "lagMs")) ms",
            sources.isEmpty ? "no sources" : sources.joined(separator: ", "),
            alarms.isEmpty ? "no alarms" : "alarms: \(shown)",
        ].joined(separator: "  ")
    }

    /// Returns the lines of the view.
    ///
    /// - Parameters:
    ///   - room: The reply to `GET /v1/room`.
    ///   - columns: Columns of the terminal; longer lines are cut.
    ///   - rows: Rows of the terminal. If there are not enough, sources are left out before alarms.
    package func lines(_ room: JSONNode, columns: Int, rows: Int) -> [String] {
        let state = room[key: "state"]?.string ?? ""
        let cause = ReplyText.value(room, "cause")
        let program = room[key: "program"]
        let ticks = room[key: "ticks"]
        let lag = room[key: "latency"]?[key: "program"]
        let first = TextWidth.clip(
            "\(ReplyText.value(room, "time", "clock"))  room \(ReplyText.value(room, "roomId")): "
                + "\(ReplyText.word(state))\(cause.isEmpty ? "" : " (\(cause))")", to: columns)
        let second = TextWidth.clip(
            "scene \(ReplyText.value(program, "scene"))  frame \(ReplyText.value(program, "tick"))  lag "
                + "\(ReplyText.value(lag, "lagMs")) of \(ReplyText.value(lag, "limitMs")) ms  late "
                + "\(ReplyText.value(ticks, "late"))  lost \(ReplyText.value(ticks, "lost"))  segments "
                + "\(ReplyText.value(room, "segments"))", to: columns)
        let head = [self.style.paint(first, EventPhrase.tone(ofState: state)), second, ""]
        let alarms = self.alarms(room, columns)
        var sources = self.sources(room, columns)
        let space = max(2, rows - head.count - 1 - alarms.count)
        if sources.count > space {
            let hidden = sources.count - space + 1
            sources = Array(sources.prefix(space - 1)) + [TextWidth.clip("… \(hidden) more", to: columns)]
        }
        return Array((head + sources + [""] + alarms).prefix(max(1, rows)))
    }

    private func sources(_ room: JSONNode, _ columns: Int) -> [String] {
        var table = TextTable(["source", "state", "level", "loudness", "fps", "video", "health"])
        let program = room[key: "program"] ?? .object([])
        table.add(["program", "", .init(Self.meter(program)), .init(ReplyText.loudness(program))])
        for source in room[key: "sources"]?.array ?? [] {
            let level = source[key: "health"]?[key: "level"]?.string ?? ""
            table.add([
                .init(Self.label(of: source)), ReplyText.state(of: source), .init(Self.meter(source)),
                .init(ReplyText.loudness(source)), .init(ReplyText.value(source[key: "figures"], "fps")),
                .init(ReplyText.value(source[key: "figures"], "videoBitrate", "rate")),
                .init(ReplyText.health(of: source), EventPhrase.tone(ofLevel: level)),
            ])
        }
        return table.lines(self.style, limit: columns)
    }

    private static func label(of source: JSONNode) -> String {
        let (uid, name) = (ReplyText.name(of: source), ReplyText.value(source, "name"))
        return name.isEmpty || name == uid ? uid : "\(uid) \(name)"
    }

    /// A bar for the loudness of the last 3 s.
    private static func meter(_ node: JSONNode) -> String {
        guard let loudness = node[key: "level"]?[key: "loudness"]?.double else { return "" }
        let share = max(0, min(1, (loudness + self.quietest) / self.quietest))
        let full = Int(exactly: (share * Double(self.meterColumns)).rounded()) ?? 0
        return String(repeating: "█", count: full) + String(repeating: "·", count: self.meterColumns - full)
    }

    private func alarms(_ room: JSONNode, _ columns: Int) -> [String] {
        let set = (room[key: "alarms"]?.array ?? []).filter { $0[key: "state"]?.string != "cleared" }
        guard !set.isEmpty else { return ["no alarms"] }
        return set.map { alarm in
            let severity = alarm[key: "severity"]?.string ?? ""
            let text =
                "\(ReplyText.word(severity))  \(ReplyText.value(alarm, "type"))  \(ReplyText.value(alarm, "message"))"
            return self.style.paint(TextWidth.clip(text, to: columns), EventPhrase.tone(ofLevel: severity))
        }
    }
}

/// Draws lines again and again at the same place of a terminal.
package struct RedrawnLines: Sendable {
    private var drawn = 0

    package init() {}

    /// Returns the text that replaces the lines drawn last by these. Each line must fit in the terminal's width, and there
    /// must be fewer lines than the terminal has rows.
    package mutating func text(_ lines: [String]) -> String {
        let back = self.drawn > 0 ? "\u{1b}[\(self.drawn)A" : ""
        self.drawn = lines.count
        // Erasing to the end of each line and of the screen instead of first erasing everything avoids flicker.
        return back + lines.map { "\r\($0)\u{1b}[K\n" }.joined() + "\u{1b}[J"
    }
}
