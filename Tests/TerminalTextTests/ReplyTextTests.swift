import MediaTypes
import TerminalText
import Testing

@Suite("Replies for people: tables, refusals, and the live view")
struct ReplyTextTests {
    private let text = ReplyText(style: .plain)

    /// A reply to `GET /v1/room`, without members that no table shows.
    static let room = """
        {"roomId":"88231","title":"PK","state":"recovering","since":"2026-11-28T02:02:59.713Z","cause":"media",
        "time":"2026-11-28T02:03:04.589Z","program":{"scene":"pk","scenes":["solo","pk"],"tick":199,
        "level":{"peakDb":-9.0,"loudness":-21.17,"momentary":-15.0}},
        "pk":{"phase":"pk","remainingMs":12500},"sources":[
        {"uid":"anna","streamType":"main","name":"ANNA","state":"live","picture":"320x180","volume":100,"audioPush":true,
        "level":{"peakDb":-9.0,"loudness":-21.25,"momentary":-30.0},"health":{"level":"normal","causes":[],"findings":[]},
        "figures":{"fps":29.996,"videoBitrate":414243}},
        {"uid":"ben","streamType":"sub","name":"벤 김","state":"reconnecting","picture":null,"volume":80,"audioPush":false,
        "level":null,"health":{"level":"alert_3","causes":["absent"],"findings":[{"cause":"absent","level":"alert_3",
        "message":"no media arrives"}]},"figures":{"fps":0.0,"videoBitrate":0}}],
        "renditions":[{"name":"180p","width":320,"height":180,"fps":30,"bitrate":300000,"measuredBitrate":57476,
        "passthrough":null}],
        "outputs":[{"outputId":"hls","type":"hls","playlist":"index.m3u8"},
        {"outputId":"cdn","type":"rtmp","url":"rtmp://cdn.example/live","state":"failed","lastError":"connection refused"}],
        "latency":{"program":{"lagMs":12,"limitMs":400}},"alarms":[{"id":"1-2","type":"source.lost","severity":"alert_3",
        "state":"set","scope":{"kind":"source","id":"ben"},"message":"BEN: no media arrives",
        "setAt":"2026-11-28T02:03:01.462Z","clearedAt":null}],"segments":6,"ticks":{"frames":199,"late":0,"lost":2},
        "addresses":{"control":"http://127.0.0.1:8081"}}
        """

    @Test(
        "a room's state is printed as a head and as tables of sources, renditions, outputs and alarms with aligned columns"
    )
    func state() {
        #expect(
            self.text.text(Array(Self.room.utf8), .room) == """
                room      88231 "PK": recovering (media) since 02:02:59.713
                program   scene pk of solo, pk; frame 199, 12 ms behind (limit 400 ms)
                pk        pk, 12.5 s left
                control   http://127.0.0.1:8081

                SOURCE   NAME   STATE         PICTURE  FPS  VIDEO         LOUDNESS    VOLUME  HEALTH
                anna     ANNA   live          320x180  30   414.2 kbit/s  -21.3 LUFS  100 %   normal
                ben/sub  벤 김  reconnecting           0    0 bit/s                   muted   no media arrives

                RENDITION  SIZE     FPS  BIT RATE    MEASURED     PASSED THROUGH
                180p       320x180  30   300 kbit/s  57.5 kbit/s

                OUTPUT  TYPE  STATE   TO                       LAST ERROR
                hls     hls           index.m3u8
                cdn     rtmp  failed  rtmp://cdn.example/live  connection refused

                SEVERITY  STATE  ABOUT       SINCE         ALARM        WHAT IS WRONG
                alert 3   set    source ben  02:03:01.462  source.lost  BEN: no media arrives

                """)
    }

    @Test(
        "replies with statistics, events, logs and other JSON are printed as lines, and text as it is, with `?` for control characters"
    )
    func others() {
        func text(_ reply: String, _ kind: ReplyText.Kind) -> String { self.text.text(Array(reply.utf8), kind) }
        let statistics = text(
            #"{"level":"standard","tick":9,"ticks":{"frames":10,"late":0,"lost":1},"sources":[{"uid":"a","state":"live","figures":{"fps":25.0,"videoBitrate":2480000,"gapMs":42,"skewMs":-3,"keyIntervalMs":2000},"bufferMs":205,"driftPpm":null,"damaged":0,"dropped":7,"health":{"level":"normal"}}]}"#,
            .statistics)
        #expect(statistics.hasPrefix("frame 9: 10 composed, 0 late, 1 lost\n\nSOURCE  STATE"), "\(statistics)")
        #expect(statistics.contains("a       live   25   2.5 Mbit/s  42 ms        -3 ms"), "\(statistics)")
        #expect(text(#"{"alarms":[]}"#, .alarms) == "none\n")
        #expect(
            text(#"{"events":[{"type":"playlist.ended","time":"2026-01-31T20:00:04.206Z"}]}"#, .events)
                == "20:00:04.206  viewers         the playlists are ended\n")
        #expect(
            text(
                #"{"level":"info","lines":[{"ts":"2026-11-28T02:02:57.746Z","level":"info","msg":"publishing","logger":"tandem","source":"anna","room":"1"}]}"#,
                .logs) == "02:02:57.746 info publishing source=anna\n")
        #expect(
            text(#"{"sceneId":"pk","changed":true,"list":[1,2],"more":{"a":null},"rows":[{"b":[]}]}"#, .members) == """
                sceneId    pk
                changed    yes
                list       1, 2
                more.a     none
                rows[0].b  none

                """)
        #expect(text("# HELP\n", .text) == "# HELP\n" && text("not JSON", .room) == "not JSON")
        #expect(text("a\u{1b}[2J\r\nb\n", .text) == "a?[2J\nb\n" && text("\u{1b}c", .room) == "?c")
        #expect(text("{\"a\":[{\"b\":1}]}", .document).contains("\n      \"b\": 1\n"))
    }

    @Test("a refusal is printed as its detail, remedy and code, and each mistake of a document on a line of its own")
    func refusals() {
        func text(_ reply: String) -> String { ReplyText.refusal(Array(reply.utf8)) }
        #expect(
            text(#"{"status":409,"code":"requestFailed","detail":"source ben is absent","fix":"wait"}"#)
                == "source ben is absent. Fix: wait [requestFailed]\n")
        #expect(
            text(#"{"detail":"d","errors":[{"path":"a.b","what":"is missing","fix":"add it"}]}"#)
                == "d\n  a.b: is missing. Fix: add it\n")
        #expect(text("status 500") == "status 500\n" && text("\u{1b}]0;a\u{7}\n") == "?]0;a?\n")
    }

    private func watch(columns: Int, rows: Int, _ style: TerminalStyle = .plain) throws -> [String] {
        let room = try #require(JSONParser.parse(Array(Self.room.utf8)).faultless)
        return WatchView(style: style).lines(room, columns: columns, rows: rows)
    }

    @Test(
        "a room's live view shows the room's frame number, lag and alarms and each source's loudness meter, and fits in the terminal"
    )
    func view() throws {
        #expect(
            try self.watch(columns: 100, rows: 20).joined(separator: "\n") == """
                02:03:04.589  room 88231: recovering (media)
                scene pk  frame 199  lag 12 of 400 ms  late 0  lost 2  segments 6

                SOURCE         STATE         LEVEL                 LOUDNESS    FPS  VIDEO         HEALTH
                program                      █████████████·······  -21.2 LUFS
                anna ANNA      live          █████████████·······  -21.3 LUFS  30   414.2 kbit/s  normal
                ben/sub 벤 김  reconnecting                                    0    0 bit/s       no media arrives

                alert 3  source.lost  BEN: no media arrives
                """)
        for columns in [1, 20, 40, 80] {
            for line in try self.watch(columns: columns, rows: 20) {
                #expect(TextWidth.columns(line) <= columns, "\(line)")
            }
        }
        let short = try self.watch(columns: 80, rows: 7)
        #expect(short.count == 7 && short.contains("… 3 more") && short.last?.hasPrefix("alert 3") == true, "\(short)")
    }

    @Test("the one-line form of a room's live view has time, state, scene, frame number, lag, sources and alarms")
    func line() throws {
        let room = try #require(JSONParser.parse(Array(Self.room.utf8)).faultless)
        #expect(
            WatchView(style: .plain).line(room)
                == "02:03:04.589  recovering  scene pk  frame 199  lag 12 ms  "
                + "anna live -21.3 LUFS, ben/sub reconnecting  alarms: BEN: no media arrives")
    }

    @Test("RedrawnLines draws lines over those drawn before, also if there are fewer")
    func redrawn() {
        var drawn = RedrawnLines()
        #expect(drawn.text(["a", "b"]) == "\ra\u{1b}[K\n\rb\u{1b}[K\n\u{1b}[J")
        #expect(drawn.text(["c"]) == "\u{1b}[2A\rc\u{1b}[K\n\u{1b}[J")
        #expect(drawn.text([]) == "\u{1b}[1A\u{1b}[J")
    }

    @Test(
        "in terminal text CJK characters and emoji are two columns and combining characters none, also when it is cut or padded"
    )
    func columns() {
        #expect(TextWidth.columns("abc") == 3 && TextWidth.columns("벤 김") == 5 && TextWidth.columns("主播") == 4)
        #expect(TextWidth.columns("e\u{301}") == 1 && TextWidth.columns("🎉") == 2 && TextWidth.columns("") == 0)
        // Emoji outside of the pictographs, a character in its emoji form, and a flag.
        for emoji in ["⚡", "✨", "❤\u{FE0F}", "🇰🇷"] { #expect(TextWidth.columns(emoji) == 2, "\(emoji)") }
        #expect(TextWidth.columns("❤") == 1)
        #expect(TextWidth.clip("벤 김", to: 4) == "벤 …" && TextWidth.clip("abc", to: 3) == "abc")
        #expect(TextWidth.padLeft("7", to: 3) == "  7" && TextWidth.pad("벤", to: 3) == "벤 ")
    }
}

@Suite("Help texts")
struct HelpTextTests {
    @Test("usage lines of a help text are wrapped between options; its other lines stay")
    func usage() {
        let text =
            "OVERVIEW: a\n\nUSAGE: tandem x <file> [--set <path=value> ...] [--json]\n\n  --set <path=value>  aaaaaaaaaaaaaaaaa"
        #expect(
            HelpText.wrappingUsage(text, columns: 30)
                == "OVERVIEW: a\n\nUSAGE: tandem x <file>\n       [--set <path=value> ...]\n       [--json]\n\n  --set <path=value>  aaaaaaaaaaaaaaaaa"
        )
        #expect(HelpText.wrappingUsage(text, columns: 200) == text && HelpText.wrappingUsage("", columns: 1) == "")
        #expect(
            HelpText.wrappingUsage("Usage: tandem x <a>", columns: 1) == "Usage:\n       tandem\n       x\n       <a>")
    }
}
