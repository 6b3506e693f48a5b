import MediaTypes
import PipelineSpec
import Room
import Testing

@Suite("Webhook URLs from environment variables")
struct WebhookURLTests {
    @Test(
        "an environment variable with an invalid webhook URL, or a missing one, is refused with its place, without printing the value",
        arguments: [("PATH", MediaError.Code.rejected), ("TANDEM_NO_SUCH_VARIABLE", .notReadable)])
    func refused(variable: String, code: MediaError.Code) throws {
        let report = Pipeline.parse(
            """
            { "room": { "roomId": "1" },
              "control": { "events": [{ "type": "webhook", "urlEnv": "\(variable)" }] },
              "sources": [{ "uid": "1001", "streamKey": "written" }],
              "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }], "outputs": [{ "path": "out" }] }
            """)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "test"))")
        let error = #expect(throws: MediaError.self) { _ = try pipeline.webhooks() }
        #expect(error?.code == code && error?.place == "control.events[0]")
        #expect(error?.description.contains("/bin") == false)
    }
}
