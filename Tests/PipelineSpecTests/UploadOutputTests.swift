import PipelineSpec
import Testing

@Suite("Pipeline file: http, s3 and image outputs")
struct UploadOutputTests {
    private static func read(_ outputs: String, members: String = "") -> SpecReport {
        Pipeline.parse(
            Documents.room.replacing(#"{ "path": "out" }"#, with: outputs).replacing(
                #""room": {"#, with: #"\#(members) "room": {"#))
    }

    private static func mistakes(_ report: SpecReport) -> [String] {
        if case .failure(let refusal) = report.result { return refusal.mistakes.map(\.path) }
        return []
    }

    @Test("http, s3 and image outputs get defaults for members that are left out")
    func defaults() throws {
        let pipeline = try Self.read(
            #"""
            { "path": "out" }, { "type": "http", "url": "https://o.example/x" },
            { "type": "s3", "endpoint": "http://s3:9000", "bucket": "b", "accessKeyEnv": "A", "secretKeyEnv": "B" },
            { "type": "image", "path": "out/now.jpg" }
            """#
        ).result.get()
        #expect(pipeline.uploads.map(\.outputID) == ["http", "s3"])
        #expect(pipeline.images.map(\.intervalSeconds) == [10])
        guard case .http(let http) = pipeline.uploads[0], case .s3(let bucket) = pipeline.uploads[1] else {
            Issue.record("no stores")
            return
        }
        #expect(http.method == .put && http.credentials == nil && http.store == StoreRules())
        #expect(bucket.pathStyle && bucket.prefix.isEmpty && bucket.secretKey == .env("B"))
    }

    @Test(
        "each mistake in an http, s3 or image output is one error at its path",
        arguments: [
            (#"{ "type": "http", "url": "https://o/x" }"#, "outputs[0]"),
            (#"{ "path": "out" }, { "type": "http", "url": "https://o/x?a=b" }"#, "outputs[1].url"),
            (#"{ "path": "out" }, { "type": "http", "url": "ftp://o/x" }"#, "outputs[1].url"),
            (#"{ "path": "out" }, { "type": "http" }"#, "outputs[1].url"),
            (
                #"{ "path": "out" }, { "type": "http", "url": "https://o/x", "auth": { "type": "bearer" } }"#,
                "outputs[1].auth.secretEnv"
            ),
            (
                #"{ "path": "out" }, { "type": "s3", "endpoint": "http://s", "bucket": "b", "accessKeyEnv": "A" }"#,
                "outputs[1].secretKeyEnv"
            ),
            (
                #"{ "path": "out" }, { "type": "s3", "endpoint": "http://s", "bucket": "b", "accessKeyEnv": "A", "secretKeyEnv": "B", "prefix": "../x/" }"#,
                "outputs[1].prefix"
            ),
            (
                #"{ "path": "out" }, { "type": "s3", "endpoint": "http://s", "bucket": "b", "accessKeyEnv": "A", "secretKeyEnv": "B", "sessionTokenEnv": "C", "sessionTokenFile": "d" }"#,
                "outputs[1].sessionTokenFile"
            ),
            (
                #"{ "path": "out" }, { "type": "http", "url": "https://o/x", "segmentFormat": "ts" }"#,
                "outputs[1].segmentFormat"
            ),
            (#"{ "path": "out" }, { "type": "image", "path": "now.png" }"#, "outputs[1].path"),
            (
                #"{ "path": "out", "encryption": { "secretEnv": "K" } }, { "type": "http", "url": "https://o/x" }"#,
                "outputs[1]"
            ),
        ])
    func mistakes(outputs: String, place: String) {
        #expect(Self.mistakes(Self.read(outputs)) == [place])
    }

    @Test("lowLatency true is refused for http and s3 outputs, with the reason and the alternative; false is accepted")
    func lowLatency() throws {
        for store in [
            #"{ "type": "http", "url": "https://o.example/x", "lowLatency": "#,
            #"{ "type": "s3", "endpoint": "http://s", "bucket": "b", "accessKeyEnv": "A", "secretKeyEnv": "B", "lowLatency": "#,
        ] {
            let refused = Self.read(#"{ "path": "out" }, "# + store + "true }")
            #expect(Self.mistakes(refused) == ["outputs[1].lowLatency"])
            let text = refused.mistakes.map { $0.text(file: "room.json") }.joined()
            #expect(text.contains("block a playlist reload") && text.contains("listener"), "\(text)")
            #expect(Self.mistakes(Self.read(#"{ "path": "out" }, "# + store + "1 }")) == ["outputs[1].lowLatency"])
            let off = try Self.read(#"{ "path": "out" }, "# + store + "false }").result.get()
            let none = Self.read(#"{ "path": "out" }, "# + store.replacing(#", "lowLatency": "#, with: " }"))
            #expect(try off == none.result.get())
        }
    }

    @Test(
        "an image's size is as set, in proportion to one side, or at most 640 pixels per side, and at least 16",
        arguments: [
            (1280, 720, nil, nil, 640, 360), (720, 1280, nil, nil, 360, 640), (320, 180, nil, nil, 320, 180),
            (1280, 720, 320, nil, 320, 180), (1280, 720, nil, 90, 160, 90), (1280, 720, 100, 100, 100, 100),
            (1, 1, nil, nil, 16, 16),
        ] as [(Int, Int, Int?, Int?, Int, Int)])
    func sizes(width: Int, height: Int, wide: Int?, high: Int?, expectedWidth: Int, expectedHeight: Int) {
        var output = ImageOutput(path: "a.jpg")
        (output.width, output.height) = (wide, high)
        #expect(output.size(of: width, height) == (expectedWidth, expectedHeight))
    }
}
