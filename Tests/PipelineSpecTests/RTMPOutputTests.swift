import PipelineSpec
import Testing

@Suite("Pipeline file: RTMP outputs and HTTP-FLV")
struct RTMPOutputTests {
    /// A room with an rtmp output of these members beside its HLS output.
    private static func document(_ output: String, hls: String = "") -> String {
        Documents.room.replacing(
            "{ \"path\": \"out\" }", with: "{ \"path\": \"out\"\(hls) }, { \"type\": \"rtmp\", \(output) }")
    }

    @Test("an rtmp output's members and defaults are read, and the summary does not show its stream key")
    func read() throws {
        let text = Self.document(
            #""outputId": "cdn", "url": "rtmps://cdn.example/live", "key": "hunter2x?sig=hunter2y""#
                + #", "retry": { "maxDelayMs": 8000 }"#)
        let report = Pipeline.parse(text)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        let output = try #require(pipeline.pushes.first)
        #expect(output.key == .inline("hunter2x?sig=hunter2y") && output.url == .inline("rtmps://cdn.example/live"))
        #expect(output.stallTimeoutMs == 4_000 && output.retry.initialDelayMs == 1_000)
        #expect(output.retry.maxDelayMs == 8_000 && output.tls.verify)
        #expect(pipeline.rendition(of: output)?.name == "720p")
        #expect(pipeline.summary().contains("cdn: 720p over RTMP to rtmps://cdn.example:443/live"))
        let whole = Pipeline.parse(Self.document(#""url": "rtmp://cdn.example/live/hunter2long?sig=hunter2y""#))
        let other = try #require(whole.pipeline, "\(whole.text(file: "f"))")
        #expect(other.summary().contains("rtmp: 720p over RTMP to rtmp://cdn.example:1935/live/hun…"))
        for shown in ["\(pipeline)", pipeline.summary(), "\(other)", other.summary()] {
            #expect(!shown.contains("hunter2"), "\(shown)")
        }
    }

    @Test(
        "each mistake in an rtmp output is an error with its path, and no stream key in its text",
        arguments: [
            (#""outputId": "a""#, "outputs[1].url", "is missing"),
            (#""url": "rtmp://h/live/hunter2k", "urlEnv": "U""#, "outputs[1].urlEnv", "cannot be combined with url"),
            (#""url": "http://h/live/hunter2k""#, "outputs[1].url", "rtmp://host[:port]/app/key"),
            (#""url": "rtmp://h/hunter2k""#, "outputs[1].url", "contains no stream key"),
            (#""url": "rtmp://h/live/?sig=hunter2k""#, "outputs[1].url", "contains no stream key"),
            (#""url": "rtmp://h/live", "key": "hunter2 k""#, "outputs[1].key", "a stream key"),
            (
                #""url": "rtmp://h/live", "key": "hunter2k", "keyEnv": "K""#, "outputs[1].keyEnv",
                "cannot be combined with key"
            ),
            (#""url": "rtmp://h/live/hunter2k", "rendition": "1080p""#, "outputs[1].rendition", "no rendition"),
            (
                #""url": "rtmp://h/live/hunter2k", "retry": { "initialDelayMs": 900, "maxDelayMs": 800 }"#,
                "outputs[1].retry.maxDelayMs", "is less than initialDelayMs"
            ),
            (#""url": "rtmp://h/live/hunter2k", "stallTimeoutMs": 10"#, "outputs[1].stallTimeoutMs", "1000"),
            (#""url": "rtmp://h/live/hunter2k", "strem": 1"#, "outputs[1].strem", "unknown key"),
        ])
    func mistakes(output: String, place: String, what: String) {
        let report = Pipeline.parse(Self.document(output))
        let text = report.text(file: "f")
        #expect(report.pipeline == nil)
        #expect(text.contains(place) && text.contains(what), "\(text)")
        #expect(!text.contains("hunter2k") && !text.contains("hunter2 k"), "\(text)")
    }

    @Test("an offline room may have no rtmp output, and an encrypted hls output may not serve FLV, which is clear")
    func combinations() {
        let offline = Self.document(#""url": "rtmp://h/live/hunter2k""#)
            .replacing(#""room": {"#, with: #""clock": "offline", "durationSeconds": 1, "room": {"#)
        #expect(Pipeline.parse(offline).text(file: "f").contains("an rtmp output needs a live room"))
        let clear = Self.document(
            #""url": "rtmp://h/live/hunter2k""#, hls: #", "encryption": {}, "http": { "flv": true }"#)
        let report = Pipeline.parse(clear)
        #expect(report.pipeline == nil && report.text(file: "f").contains("FLV cannot be encrypted"))
    }
}
