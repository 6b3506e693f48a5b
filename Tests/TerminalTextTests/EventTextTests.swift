import Events
import MediaTypes
import TerminalText
import Testing

@Suite("Events for people: one line each, in words")
struct EventTextTests {
    private let text = EventText(style: .plain)

    @Test("every declared event except audio.levels has a phrase of its own, and its example leaves no gap in it")
    func everyEvent() throws {
        for declaration in EventDeclaration.all {
            let line = declaration.example.text
            guard let text = self.text.text(line) else {
                #expect(declaration.type == "audio.levels")
                continue
            }
            #expect(text.hasPrefix("20:00:04.206  "), "\(text)")
            #expect(!text.contains("event         \(declaration.type)"), "no phrase for \(declaration.type)")
            for mark in ["?", "{", "}", "\""] { #expect(!text.contains(mark), "\(declaration.type): \(text)") }
            if declaration.type != "room.ready" { #expect(!text.contains("\n"), "\(text)") }
        }
    }

    @Test("the phrases of events name only members that the event has")
    func members() {
        for declaration in EventDeclaration.all {
            let known = Set(declaration.members.map(\.name))
            for path in EventText.members(of: declaration.type) ?? [] {
                #expect(known.contains(String(path.prefix { $0 != "." })), "\(declaration.type): \(path)")
            }
        }
    }

    @Test(
        "an event's line has its time, its subject and what has happened; optional parts only if they have a value",
        arguments: [
            (
                #"{"type":"source.live","time":"2026-01-31T20:00:04.206Z","uid":"1001","reason":"first frame","picture":"1280x720"}"#,
                "20:00:04.206  source 1001     live: first frame, 1280x720"
            ),
            (
                #"{"type":"source.live","time":"2026-01-31T20:00:04.206Z","uid":"1001","reason":"media","picture":null}"#,
                "20:00:04.206  source 1001     live: media"
            ),
            (
                #"{"type":"output.failed","time":"2026-01-31T20:00:04.206Z","outputId":"cdn","reason":"refused","retryMs":730}"#,
                "20:00:04.206  output cdn      failed: refused, next attempt in 0.73 s"
            ),
            (
                #"{"type":"source.changed","time":"2026-01-31T20:00:04.206Z","uid":"1","volume":0,"audioPush":false}"#,
                "20:00:04.206  source 1        settings changed, volume 0 %, audible: no"
            ),
            (
                #"{"type":"output.disk_low","time":"2026-01-31T20:00:04.206Z","level":"alert_2","percent":96,"freeBytes":4812331,"path":"/d","stopped":["clips"]}"#,
                "20:00:04.206  disk            96 % full, 4.8 MB free, in /d; stopped: clips"
            ),
            (#"{"type":"new.event","time":"later"}"#, "--:--:--.---  event           new.event"),
        ])
    func lines(event: String, line: String) {
        #expect(self.text.text(event) == line)
    }

    @Test("the text of room.ready lists the addresses, each with what it is for")
    func addresses() {
        let ready = EventDeclaration.of("room.ready")?.example.text ?? ""
        #expect(
            self.text.text(ready) == """
                20:00:04.206  room            ready, scene pk
                    publish RTMP    rtmp://127.0.0.1:1935
                    viewers' page   http://127.0.0.1:8080/
                    playlist        http://127.0.0.1:8080/index.m3u8
                    control page    http://127.0.0.1:8081/
                """)
    }

    @Test("control characters in an event, or in a line that is not JSON, are printed as `?`")
    func hostile() {
        let event =
            #"{"type":"source.live","time":"2026-01-31T20:00:04.206Z","uid":"\u001b[2J\u009bA\u202e","reason":"a\nb"}"#
        #expect(self.text.text(event) == "20:00:04.206  source ?[2J?A?  live: a?b")
        #expect(self.text.text("{not\u{1b}") == "{not?")
    }

    @Test("the color of an event's line follows the severity, on a terminal without NO_COLOR only")
    func colors() {
        func style(_ variables: [String: String], _ isTerminal: Bool = true) -> Bool {
            TerminalStyle.decide(isTerminal: isTerminal) { variables[$0] }.isColored
        }
        #expect(style(["TERM": "xterm"]) && style(["TERM": "xterm", "NO_COLOR": ""]))
        #expect(!style(["TERM": "xterm", "NO_COLOR": "1"]) && !style(["TERM": "dumb"]) && !style([:]))
        #expect(!style(["TERM": "xterm"], false))
        #expect(TerminalStyle.hasCursor(isTerminal: true) { ["TERM": "xterm", "NO_COLOR": "1"][$0] })
        #expect(!TerminalStyle.hasCursor(isTerminal: true) { ["TERM": "dumb"][$0] })
        let colored = EventText(style: TerminalStyle(isColored: true))
        func alarm(_ level: String) -> String {
            colored.text(
                #"{"type":"alarm.set","time":"2026-01-31T20:00:04.206Z","id":"1-1","level":"\#(level)","reason":"r"}"#)
                ?? ""
        }
        #expect(alarm("alert_1").hasSuffix("\u{1b}[33malert 1: r\u{1b}[0m"))
        #expect(alarm("alert_3").hasSuffix("\u{1b}[31malert 3: r\u{1b}[0m"))
    }
}
