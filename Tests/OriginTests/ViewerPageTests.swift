import HTTPListener
import HTTPTypes
import Testing

import Origin

@Suite("Viewer page")
struct ViewerPageTests {
    private static func html(_ title: String = "Room", _ change: (inout ViewerPage.Options) -> Void = { _ in })
        -> String
    {
        var options = ViewerPage.Options(title: title)
        change(&options)
        return ViewerPage.html(options)
    }

    @Test("the viewer page escapes a room title with markup")
    func title() {
        let page = Self.html("<script>alert('1')</script> \"&\" {{playlist}} {{title}}")
        #expect(
            page.contains(
                "<h1 id=\"title\">&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;&amp;&quot; {{playlist}} {{title}}</h1>"
            ))
        #expect(!page.contains("<script>alert"))
    }

    @Test(
        "the viewer page has no unfilled placeholder, no inline script or style, and loads nothing from other servers")
    func selfContained() {
        let page = Self.html()
        #expect(!page.contains("{{"))
        #expect(page.matches(of: #/<style|<script>|<script [^>]*>[^<]|style="|onclick=/#).isEmpty)
        for text in [page] + ViewerPage.File.allCases.map(\.text) {
            #expect(!text.isEmpty)
            let elsewhere = text.matches(of: #/(src|href)=["'](https?:)?//|@import|url\(["']?http/#)
            #expect(elsewhere.isEmpty)
        }
    }

    @Test("every module that the viewer page preloads or imports is one of its files, and none has more than 400 lines")
    func modules() {
        let names = Set(ViewerPage.File.allCases.map(\.rawValue))
        let preloaded = Self.html().matches(of: #/rel="modulepreload" href="([^"]+)"/#).map { "/\($0.output.1)" }
        #expect(Set(preloaded) == names.subtracting(["/page.css", "/page.js"]))
        for file in ViewerPage.File.allCases {
            for match in file.text.matches(of: #/ from "\.(/[^"]+)";/#) {
                #expect(names.contains(String(match.output.1)), "\(file.rawValue)")
            }
            #expect(file.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 400, "\(file.rawValue)")
        }
    }

    @Test("the player as one script has no import and export statements")
    func classicScript() {
        let script = ViewerPage.player
        #expect(script.contains("\nclass MSEPlayer {") && script.contains("\nclass Track {"))
        #expect(script.contains("\nfunction parseMultivariant(") && script.contains("\nconst requestFields = "))
        #expect(script.matches(of: #/(^|\n)(import|export) /#).isEmpty)
    }

    @Test("the viewer page names the multivariant playlist as configured, index.m3u8 by default")
    func playlist() {
        #expect(Self.html().contains("data-playlist=\"index.m3u8\""))
        let page = Self.html { $0.playlist = "live.m3u8" }
        #expect(page.contains("data-playlist=\"live.m3u8\"") && !page.contains("index.m3u8"))
    }

    @Test("the viewer page names the configured thumbnails, still, recording and length of a long window")
    func options() {
        let page = Self.html { options in
            options.thumbnails = "still.vtt"
            options.still = "still.jpg"
            options.recording = "https://vod.example/?a=1&b=2"
            options.wholeWindow = 7200
        }
        #expect(page.contains("data-thumbnails=\"still.vtt\"") && page.contains("data-still=\"still.jpg\""))
        #expect(page.contains("data-recording=\"https://vod.example/?a=1&amp;b=2\""))
        #expect(page.contains("data-window=\"7200\"") && Self.html().contains("data-window=\"\""))
        // A value is not searched for the places of others.
        #expect(Self.html { $0.recording = "https://vod.example/{{title}}" }.contains("vod.example/{{title}}\""))
        #expect(Self.html { $0.title = "{{playlist}}<b>" }.contains("{{playlist}}&lt;b&gt;</h1>"))
    }

    @Test(
        "the viewer page's Content-Security-Policy allows the room's key server and no other server",
        arguments: [
            ("https://keys.example/{track}/{period}", "https://keys.example"),
            ("http://10.0.0.1:8443?p={period}&t={track}", "http://10.0.0.1:8443"), ("https://[::1]/k", "https://[::1]"),
            ("https://{track}.example/{period}", nil), ("https://a;script-src/x", nil), ("https:///k", nil),
            ("https://u:p@keys.example/k", nil), ("ftp://keys.example/k", nil),
        ] as [(String, String?)])
    func keys(uri: String, origin: String?) {
        #expect(ViewerPage.origin(of: uri) == origin)
        let policy = ViewerPage.contentSecurityPolicy(keyURI: uri)
        #expect(policy.contains("connect-src 'self'\(origin.map { " \($0)" } ?? "");"))
        #expect(ViewerPage.contentSecurityPolicy().contains("connect-src 'self';"))
        #expect(!policy.contains("unsafe"))
    }

    @Test(
        "only the listed origins may show the viewer page in a frame, and by default none",
        arguments: [
            ([], "'none'"), (["*"], "*"),
            (["https://a.example", "https://*.b.example:8443"], "https://a.example https://*.b.example:8443"),
            (["https://a.example;script-src"], "'none'"),
        ] as [([String], String)])
    func frames(origins: [String], expected: String) throws {
        var options = ViewerPage.Options(title: "Room")
        options.embedOrigins = origins
        let page = ViewerPage(options)
        for path in ["/", "/index.html", "/embed"] {
            let policy = try #require(page.reply(path: path)?.fields[.contentSecurityPolicy])
            #expect(policy.hasSuffix("; frame-ancestors \(expected)"))
        }
        #expect(page.reply(path: "/index.m3u8") == nil)
        #expect(page.reply(path: "/player.js")?.fields[.contentType] == "text/javascript; charset=utf-8")
    }

    @Test("the body of the embedded viewer page has the class embed, and that of the other page the class page")
    func embedded() {
        let options = ViewerPage.Options(title: "Room")
        #expect(ViewerPage.html(options, isEmbedded: true).contains("<body class=\"embed\">"))
        #expect(ViewerPage.html(options).contains("<body class=\"page\">"))
    }

    // MARK: Status

    private static func status(_ path: String, _ responder: OriginResponder) async -> (HTTPFields, String) {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: path)
        let reply = await responder.reply(to: ListenerRequest(head: head))
        guard reply.status == .ok, case .bytes(let bytes, _) = reply.body else { return (reply.fields, "") }
        return (reply.fields, String(decoding: bytes, as: UTF8.self))
    }

    @Test(
        "GET /status.json gets 200 with the room's state, whether it can be played, and the program's start, also after its end"
    )
    func status() async {
        let responder = OriginResponder(
            content: MemoryContent(), policy: CORSPolicy(allowOrigins: []), page: ViewerPage.Options(title: "R"),
            status: { ViewerStatus(.left, isPlayable: true, programStart: 1_500_000_000) })
        let (fields, body) = await Self.status("/status.json", responder)
        #expect(body == #"{"state":"left","playable":true,"programStart":"1970-01-01T00:00:01.500Z"}"#)
        #expect(fields[.contentType] == "application/json" && fields[.cacheControl] == "max-age=1")
        let ended = OriginResponder(
            content: MemoryContent(ended: true), policy: CORSPolicy(allowOrigins: []),
            page: ViewerPage.Options(title: "R"))
        #expect(
            await Self.status("/status.json", ended).1 == #"{"state":"ended","playable":true,"programStart":null}"#)
    }

    @Test(
        "if URLs are signed, /status.json without a signature has only the state `refused`; the page needs no signature"
    )
    func signed() async {
        let gate = SignedURLVerifier(room: "r", secrets: ["a secret of the room"]) { 1_000 }
        let responder = OriginResponder(
            content: MemoryContent(), policy: CORSPolicy(allowOrigins: []), page: ViewerPage.Options(title: "R"),
            gate: gate, status: { ViewerStatus(.live, isPlayable: true) })
        let (fields, refused) = await Self.status("/status.json", responder)
        #expect(refused == #"{"state":"refused","playable":false,"programStart":null}"#)
        #expect(fields[.cacheControl] == "no-store")
        let (_, admitted) = await Self.status(
            "/status.json?\(gate.query(scope: "/index.m3u8", seconds: 60))", responder)
        #expect(admitted == #"{"state":"live","playable":true,"programStart":null}"#, "a URL that may play may ask")
        for path in ["/", "/embed", "/page.js", "/page.css"] {
            #expect(await !Self.status(path, responder).1.isEmpty, "\(path)")
        }
    }
}
