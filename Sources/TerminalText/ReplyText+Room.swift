import MediaTypes

/// The state of a room and its statistics.
extension ReplyText {
    func room(_ room: JSONNode) -> [String] {
        var lines = self.head(room)
        lines += [""] + self.sources(room[key: "sources"]?.array ?? [])
        lines += [""] + self.renditions(room[key: "renditions"]?.array ?? [])
        lines += [""] + self.outputs(room[key: "outputs"]?.array ?? [])
        let alarms = self.alarms(room[key: "alarms"]?.array ?? [])
        if !alarms.isEmpty { lines += [""] + alarms }
        return lines
    }

    /// The lines above the tables: state, program, addresses.
    func head(_ room: JSONNode) -> [String] {
        let program = room[key: "program"]
        let state = room[key: "state"]?.string ?? ""
        let title = room[key: "title"]?.string.map { " \"\(TextWidth.clean($0))\"" } ?? ""
        let cause = Self.value(room, "cause")
        let lag = room[key: "latency"]?[key: "program"]
        let shown = EventPhrase.tone(ofState: state)
        var lines = [
            "room      \(Self.value(room, "roomId"))\(title): \(self.style.paint(Self.word(state), shown))"
                + "\(cause.isEmpty ? "" : " (\(cause))") since \(Self.value(room, "since", "clock"))",
            "program   scene \(Self.value(program, "scene")) of \(Self.value(program, "scenes")); frame "
                + "\(Self.value(program, "tick")), \(Self.value(lag, "lagMs")) ms behind (limit "
                + "\(Self.value(lag, "limitMs")) ms)",
        ]
        if let pk = room[key: "pk"], let phase = pk[key: "phase"]?.string {
            let rest = Self.value(pk, "remainingMs", "seconds")
            lines.append("pk        \(TextWidth.clean(phase))\(rest.isEmpty ? "" : ", \(rest) left")")
        }
        if case .object(let addresses)? = room[key: "addresses"]?.content {
            lines += addresses.map {
                "\(TextWidth.pad(TextWidth.clean($0.key), to: 8))  \(EventValue.text($0.value))"
            }
        }
        return lines
    }

    func sources(_ sources: [JSONNode]) -> [String] {
        var table = TextTable(["source", "name", "state", "picture", "fps", "video", "loudness", "volume", "health"])
        for source in sources {
            let figures = source[key: "figures"]
            let level = source[key: "health"]?[key: "level"]?.string ?? ""
            table.add([
                .init(Self.name(of: source)), .init(Self.value(source, "name")), Self.state(of: source),
                .init(Self.value(source, "picture")), .init(Self.value(figures, "fps")),
                .init(Self.value(figures, "videoBitrate", "rate")),
                .init(Self.loudness(source)),
                .init(
                    source[key: "audioPush"]?.boolean == false ? "muted" : "\(Self.value(source, "volume")) %"),
                .init(Self.health(of: source), EventPhrase.tone(ofLevel: level)),
            ])
        }
        return table.lines(self.style)
    }

    /// The loudness of the last 3 s in LUFS; `silent` up to −100 LUFS; empty without audio.
    static func loudness(_ node: JSONNode) -> String {
        guard let loudness = node[key: "level"]?[key: "loudness"]?.double else { return "" }
        return loudness <= -100 ? "silent" : "\(EventValue.decimal(loudness)) LUFS"
    }

    /// The uid of a source, with its stream type if that is not main.
    static func name(of source: JSONNode) -> String {
        let type = self.value(source, "streamType")
        return self.value(source, "uid") + (type == "main" || type.isEmpty ? "" : "/\(type)")
    }

    static func state(of source: JSONNode) -> TextTable.Cell {
        let state = self.value(source, "state")
        let tone: TerminalStyle.Tone =
            switch state {
            case "live": .good
            case "stalled", "lost", "reconnecting": .warning
            case "gone": .bad
            default: .plain
            }
        return .init(state, tone)
    }

    /// The health of a source in words: what was measured, or its level.
    static func health(of source: JSONNode) -> String {
        let health = source[key: "health"]
        let findings = (health?[key: "findings"]?.array ?? []).compactMap { $0[key: "message"]?.string }
        return findings.isEmpty
            ? self.word(self.value(health, "level")) : TextWidth.clean(findings.joined(separator: "; "))
    }

    private func renditions(_ renditions: [JSONNode]) -> [String] {
        var table = TextTable(["rendition", "size", "fps", "bit rate", "measured", "passed through"])
        for rendition in renditions {
            let size = [Self.value(rendition, "width"), Self.value(rendition, "height")].filter { !$0.isEmpty }
            table.add([
                .init(Self.value(rendition, "name")), .init(size.isEmpty ? "audio" : size.joined(separator: "x")),
                .init(Self.value(rendition, "fps")), .init(Self.value(rendition, "bitrate", "rate")),
                .init(Self.value(rendition, "measuredBitrate", "rate")), .init(Self.value(rendition, "passthrough")),
            ])
        }
        return table.lines(self.style)
    }

    private func outputs(_ outputs: [JSONNode]) -> [String] {
        var table = TextTable(["output", "type", "state", "to", "last error"])
        for output in outputs {
            let state = Self.value(output, "state")
            let tone: TerminalStyle.Tone =
                ["failed", "unreachable"].contains(state)
                ? .bad : ["live", "recording"].contains(state) ? .good : .plain
            table.add([
                .init(Self.value(output, "outputId")), .init(Self.value(output, "type")), .init(state, tone),
                .init(Self.value(output, "url").isEmpty ? Self.value(output, "playlist") : Self.value(output, "url")),
                .init(Self.value(output, "lastError")),
            ])
        }
        return table.lines(self.style)
    }

    func statistics(_ statistics: JSONNode) -> [String] {
        let ticks = statistics[key: "ticks"]
        var lines = [
            "frame \(Self.value(statistics, "tick")): \(Self.value(ticks, "frames")) composed, "
                + "\(Self.value(ticks, "late")) late, \(Self.value(ticks, "lost")) lost", "",
        ]
        let sources = statistics[key: "sources"]?.array ?? []
        var table = TextTable([
            "source", "state", "fps", "video", "longest gap", "a/v offset", "key frames", "buffer", "drift", "damaged",
            "dropped", "health",
        ])
        func milliseconds(_ node: JSONNode?, _ key: String) -> TextTable.Cell {
            let text = Self.value(node, key)
            return .init(text.isEmpty ? "" : "\(text) ms")
        }
        for source in sources {
            let figures = source[key: "figures"]
            let drift = Self.value(source, "driftPpm")
            table.add([
                .init(Self.name(of: source)), Self.state(of: source), .init(Self.value(figures, "fps")),
                .init(Self.value(figures, "videoBitrate", "rate")), milliseconds(figures, "gapMs"),
                milliseconds(figures, "skewMs"), milliseconds(figures, "keyIntervalMs"),
                milliseconds(source, "bufferMs"), .init(drift.isEmpty ? "" : "\(drift) ppm"),
                .init(Self.value(source, "damaged")), .init(Self.value(source, "dropped")),
                .init(
                    Self.health(of: source),
                    EventPhrase.tone(ofLevel: source[key: "health"]?[key: "level"]?.string ?? "")),
            ])
        }
        lines += table.lines(self.style)
        // With --debug, the members in addition to those of the table.
        guard statistics[key: "level"]?.string == "debug" else { return lines }
        for source in sources {
            lines += ["", self.style.paint("source \(Self.name(of: source))", .strong)]
            lines += Self.members(source).map { "  " + $0 }
        }
        return lines
    }
}

extension JSONNode {
    /// The value of a number, otherwise `nil`.
    var double: Double? {
        switch self.content {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }
}
