import Foundation
import MediaTypes
import PipelineSpec
import Room
import Testing

@Suite("Secrets that sign viewers' URLs")
struct PlaybackSecretTests {
    private static func pipeline(_ secret: String) throws -> Pipeline {
        let report = Pipeline.parse(
            """
            { "room": { "roomId": "1" }, "sources": [{ "uid": "1001", "streamKey": "written" }],
              "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }],
              "outputs": [
                { "path": "out", "http": { "listen": "127.0.0.1:0", "signedUrls": { "secretFile": "\(secret)" } } }
              ] }
            """)
        return try #require(report.pipeline, "\(report.text(file: "test"))")
    }

    @Test(
        "a file of playback secrets has one secret a line, with any line ending; empty lines are skipped",
        arguments: ["one\ntwo\n", "one\r\ntwo\r\n", "one\r\n\r\ntwo", "\none\n\ntwo\n\n"])
    func lines(text: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        #expect(try Self.pipeline(file.path).playbackSecrets() == ["one", "two"])
    }

    @Test("a file of playback secrets with only empty lines is an error that names the pipeline key")
    func nothing() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("\n\n\n".utf8).write(to: file)
        let pipeline = try Self.pipeline(file.path)
        let error = #expect(throws: MediaError.self) { try pipeline.playbackSecrets() }
        #expect(error?.code == .notReadable && error?.place == "outputs.http.signedUrls")
    }
}
