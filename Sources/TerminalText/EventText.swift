package import MediaTypes

/// Prints events for people: one line per event with its time, what it is about, and what has happened.
package struct EventText: Sendable {
    /// Columns of the part that says what an event is about; longer ones are not cut.
    private static let subjectColumns = 14

    private let style: TerminalStyle

    package init(style: TerminalStyle) { self.style = style }

    /// Returns the paths of the members in the phrase of an event type, such as `clip.name`; `nil` if it has none.
    package static func members(of type: String) -> [String]? {
        EventPhrases.all[type].map { $0.subject.members + $0.what.members }
    }

    /// Returns the text of one event in JSON, as on standard output, without a line break at its end; the text of
    /// `room.ready` has several lines, since it lists the addresses.
    ///
    /// - Returns: `nil` for an event that is not printed for people; the line itself, with `?` in place of control
    ///   characters, if it is not JSON.
    package func text(_ line: String) -> String? {
        guard let event = JSONParser.parse(Array(line.utf8)).faultless else { return TextWidth.clean(line) }
        return self.text(event)
    }

    /// Returns the text of one event; `nil` for an event that is not printed for people.
    package func text(_ event: JSONNode) -> String? {
        let type = event[key: "type"]?.string ?? ""
        guard !EventPhrases.hidden.contains(type) else { return nil }
        let phrase = EventPhrases.all[type] ?? EventPhrase("event", "{type}")
        let time = event[key: "time"]?.string.flatMap(EventValue.clock) ?? "--:--:--.---"
        let subject = TextWidth.pad(phrase.subject.text(event), to: Self.subjectColumns)
        var text = "\(self.style.paint(time, .dim))  \(subject)  "
        text += self.style.paint(phrase.what.text(event), phrase.tone(event))
        if type == "room.ready" { text += self.addresses(event).map { "\n\($0)" }.joined() }
        return text
    }

    /// The addresses in `room.ready`, each with what it is for, below each other.
    private static let addresses: [(member: String, name: String)] = [
        ("rtmp", "publish RTMP"), ("rtmps", "publish RTMPS"), ("srt", "publish SRT"), ("whip", "publish WebRTC"),
        ("viewer", "viewers' page"), ("playlist", "playlist"), ("whep", "watch WebRTC"), ("control", "control page"),
    ]

    private func addresses(_ event: JSONNode) -> [String] {
        Self.addresses.compactMap { member, name in
            guard let address = event[key: member]?.string else { return nil }
            // The pages are at the root of their listeners.
            let isPage = name.hasSuffix("page") && address.hasPrefix("http")
            return "    \(TextWidth.pad(name, to: 16))\(TextWidth.clean(address))\(isPage ? "/" : "")"
        }
    }
}
