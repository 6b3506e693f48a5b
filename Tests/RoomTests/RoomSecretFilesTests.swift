import Foundation
import Glibc
import PipelineSpec
import Room
import Testing

@Suite("RoomSecretFiles: secret files that a room watches")
struct RoomSecretFilesTests {
    private let directory = NSTemporaryDirectory() + "secret-files-\(UUID().uuidString)"

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(self.directory)/\(name)"), options: .atomic)
    }

    private func pipeline() throws -> Pipeline {
        let text = """
            { "room": { "roomId": "1" },
              "control": { "tokenFile": "\(self.directory)/token", "events": [
                { "type": "webhook", "url": "http://a.example/", "secretFile": "\(self.directory)/webhook" } ] },
              "ingest": { "auth": { "type": "hmac", "secretFile": "\(self.directory)/signing" },
                "onPublish": { "url": "http://a.example/", "form": "ome", "secretFile": "\(self.directory)/hook" } },
              "sources": [
                { "uid": "1001", "streamKeyFile": "\(self.directory)/key" }, { "uid": "2002", "streamKey": "written" } ],
              "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }],
              "moderation": { "stills": { "intervalSeconds": 5, "webhook": {
                "url": "http://a.example/", "secretFile": "\(self.directory)/stills" } } },
              "outputs": [{ "type": "hls", "path": "out", "http": { "listen": "127.0.0.1:0",
                "signedUrls": { "secretFile": "\(self.directory)/playback" } } }] }
            """
        let report = Pipeline.parse(text)
        return try #require(report.pipeline, "\(report.text(file: "test"))")
    }

    @Test("a changed secret file is reported as changed once, and only for its use")
    func uses() throws {
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: self.directory) }
        let names: [(name: String, use: RoomSecretFiles.Use)] = [
            ("token", .tokens), ("webhook", .webhooks), ("signing", .keys), ("key", .keys), ("hook", .hook),
            ("playback", .playback), ("stills", .webhooks),
        ]
        for (name, _) in names { try self.write("first", name) }
        let pipeline = try self.pipeline()
        var files = RoomSecretFiles(pipeline)
        func changed() -> [RoomSecretFiles.Use] {
            RoomSecretFiles.Use.allCases.filter { files.haveChanged($0, in: pipeline) }
        }
        for (name, use) in names {
            try self.write("second", name)
            #expect(changed() == [use], "\(name)")
            #expect(changed().isEmpty, "\(name) is reported once")
        }
    }

    @Test("a secret file that a changed document names is not reported as changed until its content changes")
    func renamed() throws {
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: self.directory) }
        var pipeline = try self.pipeline()
        var files = RoomSecretFiles(pipeline)
        func changed() -> Bool { files.haveChanged(.tokens, in: pipeline) }
        try self.write("other", "other")
        pipeline.control.token = .file("\(self.directory)/other")
        #expect(!changed())
        try self.write("renewed", "other")
        #expect(changed())
    }
}
