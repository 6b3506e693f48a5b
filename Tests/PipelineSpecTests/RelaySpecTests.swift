import MediaTypes
import PipelineSpec
import Testing

@Suite("Pipeline file: rtmp-pull sources, and relays")
struct RelaySpecTests {
    /// A room with `source` as its second source, and `hosts` as the hosts that it may pull from.
    static func document(_ source: String, hosts: String = #"["cdn.example:1935", "*.pk.example:*"]"#) -> String {
        Documents.room
            .replacing(#"{ "uid": "2002", "streamKey": "hunter2b" }"#, with: source)
            .replacing(#""sources": ["#, with: #""ingest": { "pull": { "allowedHosts": \#(hosts) } }, "sources": ["#)
    }

    @Test(
        "a source may be pulled from a host in ingest.pull.allowedHosts; displays of the pipeline shorten the stream key in its URL"
    )
    func pull() throws {
        let report = Pipeline.parse(
            Self.document(#"{ "uid": "2002", "type": "rtmp-pull", "url": "rtmp://a.pk.example:99/live/hunter2c" }"#))
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(pipeline.sources[1].input == .pull(url: .inline("rtmp://a.pk.example:99/live/hunter2c")))
        #expect(pipeline.summary().contains("rtmp-pull from rtmp://a.pk.example:99/live/hu…"))
        #expect(!"\(pipeline)".contains("hunter2c"))
    }

    @Test("a source's relays are read, each with its id and URL")
    func relays() throws {
        let report = Pipeline.parse(
            Self.document(
                #"""
                { "uid": "2002", "streamKey": "k", "relays": [
                  { "relayId": "r1", "url": "rtmp://b.example/live/hunter2d" }, { "relayId": "r2", "urlEnv": "ROOM_B" } ] }
                """#))
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(
            pipeline.sources[1].relays == [
                Pipeline.Relay(relayID: "r1", url: .inline("rtmp://b.example/live/hunter2d")),
                Pipeline.Relay(relayID: "r2", url: .env("ROOM_B")),
            ])
    }

    @Test(
        "each mistake in a pull source or relay is one error with its path and what is wrong",
        arguments: [
            (#""type": "rtmp-pull""#, "sources[1].url", "is missing"),
            (
                #""type": "rtmp-pull", "url": "rtmp://evil.example/live/x""#, "sources[1].url",
                "evil.example:1935 is not in ingest.pull.allowedHosts"
            ),
            (
                #""type": "rtmp-pull", "url": "rtmp://cdn.example:1936/live/x""#, "sources[1].url",
                "cdn.example:1936 is not in ingest.pull.allowedHosts"
            ),
            (#""type": "rtmp-pull", "url": "http://cdn.example/live/x""#, "sources[1].url", "the text is not valid"),
            (
                #""type": "rtmp-pull", "url": "rtmp://cdn.example/live/x", "urlEnv": "E""#, "sources[1].urlEnv",
                "cannot be combined with url"
            ),
            (
                #""type": "rtmp-pull", "url": "rtmp://cdn.example/live/x", "streamKey": "k""#, "sources[1].streamKey",
                "applies only to rtmp sources"
            ),
            (
                #""type": "rtmp-pull", "url": "rtmp://cdn.example/live/x", "loop": true"#, "sources[1].loop",
                "applies only to file sources"
            ),
            (
                #""streamKey": "k", "url": "rtmp://cdn.example/live/x""#, "sources[1].url",
                "applies only to rtmp-pull and srt-pull sources"
            ),
            (
                #""type": "file", "path": "a.mp4", "relays": []"#, "sources[1].relays",
                "applies only to rtmp and pull sources"
            ),
            (
                #""streamKey": "k", "relays": [{ "relayId": "a", "url": "rtmp://b/c/d" }, { "relayId": "a", "urlEnv": "E" }]"#,
                "sources[1].relays[1].relayId", #""a" is already used by relays[0]"#
            ),
            (#""streamKey": "k", "relays": [{ "relayId": "a" }]"#, "sources[1].relays[0].url", "is missing"),
        ])
    func mistakes(members: String, path: String, what: String) {
        let report = Pipeline.parse(Self.document("{ \"uid\": \"2002\", \(members) }"))
        #expect(report.mistakes.map(\.path) == [path], "\(report.text(file: "f"))")
        #expect(report.mistakes.first?.what == what)
    }

    @Test(
        "the advice for a missing URL names the form of the source's type",
        arguments: [
            (#""type": "rtmp-pull""#, "rtmp://host[:port]/app/key"), (#""type": "srt-pull""#, "srt://host:port"),
            (#""streamKey": "k", "relays": [{ "relayId": "a" }]"#, "rtmp://host[:port]/app/key"),
        ])
    func missingURL(members: String, form: String) {
        let report = Pipeline.parse(Self.document("{ \"uid\": \"2002\", \(members) }"))
        #expect(report.mistakes.first?.fix == "add \"url\" or \"urlEnv\": \(form)")
    }

    @Test(
        "a host pattern matches one host at the default port; `*.` matches only subdomains, `:*` any port",
        arguments: [
            ("cdn.example", "cdn.example", 1935, true), ("cdn.example", "CDN.example", 1935, true),
            ("cdn.example", "cdn.example", 1936, false), ("cdn.example:8000", "cdn.example", 8000, true),
            ("cdn.example:*", "cdn.example", 1, true), ("cdn.example", "a.cdn.example", 1935, false),
            ("*.cdn.example", "a.cdn.example", 1935, true), ("*.cdn.example", "a.b.cdn.example.", 1935, true),
            ("*.cdn.example", "cdn.example", 1935, false), ("*.cdn.example", "evilcdn.example", 1935, false),
            ("10.0.0.5", "10.0.0.50", 1935, false), ("[::1]:1936", "::1", 1936, true), ("[::1]", "::1", 1935, true),
        ] as [(String, String, Int, Bool)])
    func patterns(pattern: String, host: String, port: Int, isAllowed: Bool) throws {
        #expect(try #require(HostPattern(pattern)).allows(host: host, port: port) == isAllowed)
    }

    @Test(
        "invalid host patterns are refused",
        arguments: ["", "*", "*.", "a b", "a/b", "a:0", "a:x", "a:65536", "u@a", "[::1", "a.*.b"])
    func noPattern(text: String) {
        #expect(HostPattern(text) == nil)
    }
}
