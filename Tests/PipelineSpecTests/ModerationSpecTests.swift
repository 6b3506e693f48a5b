import PipelineSpec
import Testing

@Suite("Pipeline file: moderation and program.delayMs")
struct ModerationSpecTests {
    private static func report(
        _ moderation: String, program: String = "{}", outputs: String = #"{ "type": "hls", "path": "out" }"#
    ) -> SpecReport {
        Pipeline.parse(
            Array(
                """
                {
                  "room": { "roomId": "1" }, "sources": [{ "uid": "1", "streamKey": "key_1" }],
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1"] }],
                  "program": \(program), "outputs": [\(outputs)], "moderation": \(moderation)
                }
                """.utf8))
    }

    @Test("moderation stills are accepted with an interval and a webhook, or with a store alone")
    func valid() {
        let stills = Self.report(
            #"{ "stills": { "intervalSeconds": 5, "webhook": { "url": "https://a.example/m" } } }"#,
            program: #"{ "delayMs": 3000 }"#
        ).pipeline
        #expect(stills?.moderation?.stills.intervalSeconds == 5 && stills?.moderation?.stills.width == 640)
        #expect(stills?.moderation?.stills.webhook?.timeoutMs == 5_000 && stills?.program.delayMs == 3_000)
        let store = Self.report(
            #"{ "stills": { "store": "http" } }"#,
            outputs: #"{ "type": "hls", "path": "out" }, { "type": "http", "url": "https://a.example/b" }"#)
        #expect(store.pipeline?.moderation?.stills.store == "http", "\(store.text(file: ""))")
    }

    @Test(
        "each mistake in moderation is reported at its path",
        arguments: [
            (#"{}"#, "moderation.stills"), (#"{ "stills": {} }"#, "moderation.stills.webhook"),
            (#"{ "stills": { "webhook": {} } }"#, "moderation.stills.webhook.url"),
            (
                #"{ "stills": { "webhook": { "url": "http://a/", "urlEnv": "A" } } }"#,
                "moderation.stills.webhook.urlEnv"
            ),
            (#"{ "stills": { "store": "s3" } }"#, "moderation.stills.store"),
            (#"{ "stills": { "store": "hls" } }"#, "moderation.stills.store"),
            (
                #"{ "stills": { "intervalSeconds": 0, "webhook": { "url": "http://a/" } } }"#,
                "moderation.stills.intervalSeconds"
            ),
        ])
    func mistakes(moderation: String, path: String) {
        let report = Self.report(moderation)
        #expect(report.pipeline == nil && report.mistakes.contains { $0.path == path }, "\(report.text(file: ""))")
    }
}
