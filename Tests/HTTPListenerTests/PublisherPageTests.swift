import Foundation
import TestSupport
import Testing

import HTTPListener

@Suite("Publisher page: RFC 9725")
struct PublisherPageTests {
    private static func text(_ file: PublisherPage.File, title: String = "Room", endpoint: String = "whip") -> String {
        guard case .bytes(let bytes, let range) = PublisherPage(title: title, endpoint: endpoint).reply(file).body
        else {
            return ""
        }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    @Test("the publisher page names its WHIP endpoint, escapes a room title with markup, and has no empty file")
    func complete() {
        let page = Self.text(.html, title: "<b>\"A & B\"</b> {{title}}", endpoint: "whip/live")
        #expect(page.contains("<h1>&lt;b&gt;&quot;A &amp; B&quot;&lt;/b&gt; {{title}}</h1>"))
        #expect(page.contains("<body data-endpoint=\"whip/live\">"))
        #expect(!Self.text(.html).contains("{{"))
        for file in PublisherPage.File.allCases { #expect(Self.text(file).count > 100, "\(file)") }
    }

    @Test("the publisher page has no inline or foreign script or style, and its Content-Security-Policy allows neither")
    func policy() {
        let files = Set(PublisherPage.File.allCases.map { String($0.rawValue.dropFirst()) })
        for file in PublisherPage.File.allCases {
            let (reply, text) = (PublisherPage(title: "Room").reply(file), Self.text(file))
            #expect(reply.fields[.xContentTypeOptions] == "nosniff" && reply.fields[.cacheControl] == "no-cache")
            #expect(text.matches(of: /(src|href)=["'](https?:)?\/\/|@import|url\(|import\(/).isEmpty, "\(file)")
        }
        let policy = PublisherPage(title: "Room").reply(.html).fields[.contentSecurityPolicy] ?? ""
        #expect(policy.hasPrefix("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains("*"))
        let page = Self.text(.html)
        #expect(page.matches(of: /<style|\sstyle=|\son[a-z]+=|javascript:/).isEmpty)
        let loaded = page.matches(of: /<script([^>]*)>([^<]*)<\/script>/)
        #expect(loaded.count == 4 && loaded.allSatisfy { $0.2.isEmpty })
        let linked = page.matches(of: /(?:src|href)="([a-z.]+)"/).map { String($0.1) }
        #expect(linked.count == 5 && linked.allSatisfy { files.contains($0) }, "\(linked)")
        #expect(Self.text(.media).contains("new Worker(\"ticker.js\")") && files.contains("ticker.js"))
    }

    @Test(
        "the publisher page sends the stream key only in Authorization, and stores it neither in the browser nor in a URL"
    )
    func key() {
        let scripts = PublisherPage.File.allCases.map { Self.text($0) }.joined()
        #expect(scripts.matches(of: /localStorage|sessionStorage|indexedDB|document\.cookie|searchParams/).isEmpty)
        #expect(
            scripts.matches(of: /this\.key\}/).count
                == scripts.matches(of: /Authorization: `Bearer \$\{this\.key\}`/).count)
        #expect(Self.text(.html).contains("<input id=\"key\" type=\"password\""))
    }

    @Test("every element that the publisher page's script uses exists, and each control has a label")
    func elements() {
        let page = Self.text(.html)
        let used = Set(Self.text(.script).matches(of: /\$\("([a-z-]+)"\)/).map { String($0.1) })
        #expect(used.count >= 15)
        for id in used { #expect(page.contains("id=\"\(id)\""), "\(id)") }
        // A label encloses its control or names it, and a control is the only one of its label.
        let labels = page.matches(of: /(?s)<label([^>]*)>(.*?)<\/label>/).map { (String($0.1), String($0.2)) }
        let controls = page.matches(of: /<(?:input|select|meter)[ >]/).count
        let enclosed = labels.filter { $0.1.matches(of: /<(?:input|select|meter)[ >]/).count == 1 }.count
        #expect(controls == 9 && enclosed + labels.filter { $0.0.contains("for=\"key\"") }.count == controls)
    }

    /// Evaluates JavaScript expressions after `words.js`; the results are JSON.
    private static func evaluate(_ expressions: [String]) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try TestTool.require("node"))
        let script = """
            const [page, list] = require("fs").readFileSync(0, "utf8").split("\\0");
            const run = (0, eval)(page + "; (text) => eval(text)");
            console.log(JSON.stringify(JSON.parse(list).map((text) => JSON.stringify(run(text)))));
            """
        process.arguments = ["-e", script]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let list = String(decoding: try JSONEncoder().encode(expressions), as: UTF8.self)
        try input.fileHandleForWriting.write(contentsOf: Data("\(Self.text(.words))\0\(list)".utf8))
        try input.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode([String].self, from: text)
    }

    @Test(
        "the publisher page's functions read keys, problem replies and ICE servers, and give retry pauses and texts")
    func words() throws {
        let problem =
            #"{\"title\":\"No capacity\",\"detail\":\"the room has 8 sessions\",\"fix\":\"repeat the request later\"}"#
        let cases: [(String, String)] = [
            ("keyInFragment('#key=a_7fd1')", #""a_7fd1""#), ("keyInFragment('#key=a%3F')", #""a?""#),
            ("keyInFragment('#key=K?exp=1&sig=a+b%3D')", #""K?exp=1&sig=a+b=""#),
            ("keyInFragment('#key=%')", #""%""#), ("keyInFragment('#key=')", "null"), ("keyInFragment('')", "null"),
            ("isKey('a_7fd1') && isKey('x'.repeat(512))", "true"),
            ("isKey('') || isKey('a b') || isKey('é') || isKey('x'.repeat(513))", "false"),
            ("sentence('the key is not valid')", #""The key is not valid.""#),
            ("sentence('ingest.codecs has h264')", #""ingest.codecs has h264.""#), ("sentence('Stop.')", #""Stop.""#),
            (
                "problemOf(503, 'application/problem+json', \"\(problem)\", '7')",
                #"{"status":503,"title":"No capacity","detail":"The room has 8 sessions.","fix":"Repeat the request later.","retryAfter":7}"#
            ),
            (
                "problemOf(502, 'text/html', '<h1>Bad</h1>', null)",
                #"{"status":502,"title":"Unexpected reply from the room","detail":"The status is 502.","fix":"","retryAfter":null}"#
            ),
            ("problemOf(500, 'application/json', 'null', 'Fri, 01 Jan 2027 00:00:00 GMT').retryAfter", "null"),
            ("[0, 1, 2, 3, 4, 5, 99].map((n) => pauseBefore(n, null))", "[300,600,1200,2400,4800,5000,5000]"),
            ("[7, 1e9, null].map((retryAfter) => pauseBefore(0, { retryAfter }))", "[7000,60000,300]"),
            (
                "[400, 401, 403, 409, 422].map((status) => isFinal({ status }, false)).join()",
                #""true,true,true,true,true""#
            ),
            (
                "[0, 408, 429, 500, 503].map((status) => isFinal({ status }, false)).join()",
                #""false,false,false,false,false""#
            ),
            ("[401, 403, 404, 409].map((status) => isFinal({ status }, true)).join()", #""true,true,false,false""#),
            (
                #"iceServers('<stun:s.example:3478>; rel="ice-server", <turn:t.example?transport=udp>; rel="ice-server"; username="u"; credential="a,\\\"b"; credential-type="password", <https://a>; rel="next"')"#,
                #"[{"urls":"stun:s.example:3478"},{"urls":"turn:t.example?transport=udp","username":"u","credential":"a,\"b"}]"#
            ),
            ("iceServers(null).length + iceServers('<https://a>; rel=\"ice-server\"').length", "0"),
            ("timeText(61_999) + ' ' + timeText(3_723_000)", #""01:01 1:02:03""#),
        ]
        let results = try Self.evaluate(cases.map { $0.0 })
        #expect(results.count == cases.count)
        for (result, (expression, expected)) in zip(results, cases) { #expect(result == expected, "\(expression)") }
    }

    @Test(
        "the publisher page treats a worker as silent 1.5 s after its last packet, or after 8 s if there was none or nothing was sent"
    )
    func silence() throws {
        // `sign(t)`: packets of the worker by time t, the last at `until`. `sent(t)`: bytes sent to it by then. Polls
        // every 250 ms. The result is the time in ms at which the worker counts as silent, or null.
        let run = """
            ((until, sent, sign) => {
              const life = new SignsOfLife();
              for (let t = 0; t <= 60000; t += 250) {
                if (life.isSilent({ sign: sign(Math.min(t, until)), bytes: sent(t) }, t)) return t;
              }
              return null;
            })
            """
        let results = try Self.evaluate([
            "\(run)(5000, (t) => t, (t) => Math.floor(t / 100))",
            // The browser stops sending soon after the feedback ends.
            "\(run)(5000, (t) => Math.min(t, 5500), (t) => Math.floor(t / 100))",
            // An item disappears from the report.
            "\(run)(5000, (t) => t, (t) => t < 5000 ? 1000 + t : 5)",
            "\(run)(60000, (t) => t, (t) => Math.floor(t / 100))",
            // Nothing is sent: connectivity checks are answered every 2.5 s.
            "\(run)(60000, () => 0, (t) => Math.floor(t / 2500))", "\(run)(5000, () => 0, (t) => Math.floor(t / 2500))",
            "\(run)(0, (t) => t, (t) => 0)",
        ])
        #expect(results == ["6500", "6500", "6250", "null", "null", "13000", "8000"])
    }

    @Test("the publisher page's meters are computed from two statistics reports of the browser")
    func meters() throws {
        let report = """
            ((bytes, at) => [
              { type: "codec", id: "A", mimeType: "audio/opus" }, { type: "codec", id: "V", mimeType: "video/H264" },
              { type: "outbound-rtp", kind: "audio", codecId: "A", bytesSent: 1000, timestamp: at },
              { type: "outbound-rtp", kind: "video", codecId: "V", bytesSent: bytes, timestamp: at, framesPerSecond: 30,
                frameWidth: 1280, frameHeight: 720, qualityLimitationReason: "cpu" },
              { type: "remote-inbound-rtp", timestamp: 3, roundTripTime: 0.02, fractionLost: 0.01 },
              { type: "remote-inbound-rtp", timestamp: 4, roundTripTime: 0.03, fractionLost: 0 },
              { type: "transport", packetsReceived: 10 },
              { type: "candidate-pair", state: "succeeded", bytesReceived: 100, responsesReceived: 5, currentRoundTripTime: 1 },
            ])
            """
        let results = try Self.evaluate([
            "readStats(\(report)(200000, 1500), readStats(\(report)(75000, 1000)))", "readStats([])",
            "rateText(readStats(\(report)(1, 1)).rate) + ' ' + rateText(2000000) + ' ' + rateText(1499)",
        ])
        #expect(
            results == [
                #"{"at":1500,"bytes":201000,"sign":122,"rate":2000000,"frames":30,"width":1280,"height":720,"codec":"H.264 + Opus","#
                    + #""trip":0.03,"loss":0.01,"limit":"cpu"}"#,
                #"{"at":0,"bytes":0,"sign":0,"rate":null,"frames":null,"width":0,"height":0,"codec":"","trip":null,"loss":null,"limit":""}"#,
                #""– 2.00 Mbit/s 1 kbit/s""#,
            ])
    }
}
