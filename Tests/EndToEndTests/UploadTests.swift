import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("The room's HLS at other stores: an origin that goes away, a bucket that checks signatures")
    struct UploadTests {
        private static func room(_ directory: String, output: String) -> String {
            Rooms.small(directory).replacingOccurrences(of: #""outputs": ["#, with: #""outputs": [ \#(output),"#)
        }

        /// Seconds the origin is away; 60 with `TANDEM_UPLOAD_OUTAGE=60`.
        private static let outage =
            ProcessInfo.processInfo.environment["TANDEM_UPLOAD_OUTAGE"].flatMap { Double($0) } ?? 5

        @Test("an origin that hangs up for a while: no tick is late, its playlists never lie, the live edge comes back")
        func origin() throws {
            guard let python = EndToEnd.tool("python3") else { return }
            let work = try WorkDirectory()
            let (place, away) = (work.path("origin"), work.path("away"))
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let token = "0123456789abcdef"
            let origin = try Child(
                python, ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/origin.py", place, away, token])
            defer { origin.stop(SIGKILL) }
            let port = try #require(origin.line(from: 0, timeout: 10) { _ in true }).line
            let room = try RunningRoom(
                Self.room(
                    work.path("out"),
                    output: #"""
                        { "type": "http", "url": "http://127.0.0.1:\#(port)/88231/", "onLost": "slate", "queueSegments": 64, "auth": { "type": "bearer",
                          "secretEnv": "ORIGIN_TOKEN" } },
                        { "type": "image", "path": "\#(work.path("out"))/thumb.jpg", "intervalSeconds": 1, "sources": true }
                        """#), environment: ["ORIGIN_TOKEN": token])
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop(SIGKILL) }
            try #require(origin.line(from: 0, timeout: 20) { $0 == "playlist 180p.m3u8 2" } != nil)
            FileManager.default.createFile(atPath: away, contents: nil)
            try room.event("output.unreachable", timeout: 10) { $0.text("state") == "set" }
            let during = try #require((try room.state()["outputs"] as? [[String: Any]])?.first { $0["target"] != nil })
            #expect(during["state"] as? String == "recovering")
            Thread.sleep(forTimeInterval: 1.1)
            let alarms = try room.state()["alarms"] as? [[String: Any]] ?? []
            #expect(
                alarms.contains { $0["type"] as? String == "output.unreachable" && $0["state"] as? String == "set" })
            Thread.sleep(forTimeInterval: Self.outage)
            try FileManager.default.removeItem(atPath: away)
            let back = room.events.count
            try room.event("output.unreachable", from: back, timeout: 10) { $0.text("state") == "cleared" }
            let newest = try #require(room.events("segment.published").last?.integer("mediaSequence"))
            #expect(
                origin.line(from: 0, timeout: 10) {
                    let words = $0.split(separator: " ")
                    return words.first == "playlist" && words[1] == "180p.m3u8"
                        && Int(words[2]).map { $0 > newest } == true
                } != nil, "the live edge comes back")
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            #expect(ticks["late"] as? Int == 0 && ticks["lost"] as? Int == 0, "\(ticks)")
            #expect(
                try HTTPClient.request("GET", room.control, "/metrics").body.contains("tandem_upload_objects_total"))
            #expect(try room.end() == 0)
            let lost = room.events("output.lost").compactMap { $0.text("listedAs") }
            #expect(!lost.isEmpty && lost.allSatisfy { $0 == "slate" }, "\(lost)")
            let wrong = origin.outputLines.filter { $0.hasPrefix("missing") || $0.hasPrefix("backwards") }
            #expect(wrong.isEmpty, "\(wrong)")
            let lint = try Command.tandem(["lint-hls", place + "/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
            #expect(try Files.text(place + "/180p.m3u8").contains("#EXT-X-ENDLIST"))
            EndToEnd.report("an origin away for \(Self.outage) s: \(lost.count) slots of slate, ticks \(ticks)")
        }

        /// In the files, at the viewers' listener and at the operators'.
        private static func expectStills(_ room: RunningRoom, _ paths: [String]) throws {
            for path in paths {
                let data = try #require(FileManager.default.contents(atPath: path), "\(path)")
                #expect(Array(data.prefix(3)) == [0xff, 0xd8, 0xff] && data.count > 1_000, "\(path)")
            }
            let viewer = try #require(room.viewer)
            #expect(try HTTPClient.request("GET", viewer, "/thumb.jpg").status == 200)
            #expect(try HTTPClient.request("GET", viewer, "/thumb-1001.jpg").status == 404)
            for (path, status) in [
                ("/v1/snapshot", 200), ("/v1/snapshot?width=64", 200), ("/v1/snapshot?width=1", 400),
                ("/v1/sources/1001/snapshot", 200), ("/v1/sources/2002/snapshot", 404),
                ("/v1/sources/3003/snapshot", 404),
            ] {
                #expect(try HTTPClient.request("GET", room.control, path).status == status, "\(path)")
            }
        }

        /// A Python that has moto: `TANDEM_PYTHON`, or the one in the path.
        private static func pythonWithMoto() throws -> String? {
            let named = ProcessInfo.processInfo.environment["TANDEM_PYTHON"]
            guard let python = named ?? EndToEnd.tool("python3") else { return nil }
            let found = try Command.run(python, ["-c", "import moto.server, boto3, flask"], timeout: 30)
            if found.code != 0 {
                print(
                    "SKIPPED: \(python) has no moto[server] (TANDEM_PYTHON names another); no bucket judges signatures")
                return nil
            }
            return python
        }

        private static func bucket(_ url: String, secret: String) -> String {
            #"""
            { "type": "s3", "endpoint": "\#(url)", "bucket": "rooms", "prefix": "live/", "accessKeyEnv": "BUCKET_ID",
              "secretKeyEnv": "\#(secret)" }
            """#
        }

        @Test("a bucket that checks signatures takes the whole room; with a wrong secret nothing, and the room lives")
        func bucket() throws {
            guard let python = try Self.pythonWithMoto() else { return }
            let work = try WorkDirectory()
            let service = try Child(
                python, ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/bucket.py"], keepsInput: true)
            defer { service.stop(SIGKILL) }
            let words = try #require(service.line(from: 0, timeout: 30) { _ in true }).line.split(separator: " ")
            try #require(words.count == 3)
            let environment = [
                "BUCKET_ID": String(words[1]), "BUCKET_SECRET": String(words[2]),
                "WRONG_SECRET": "not-the-secret-at-all",
            ]
            let output = [
                Self.bucket(String(words[0]), secret: "BUCKET_SECRET"),
                Self.bucket(String(words[0]), secret: "WRONG_SECRET").replacingOccurrences(
                    of: #""s3", "#, with: #""s3", "outputId": "wrong", "#
                ).replacingOccurrences(of: "live/", with: "wrong/"),
            ]
            let room = try RunningRoom(
                Self.room(work.path("out"), output: output.joined(separator: ", ")), environment: environment)
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop(SIGKILL) }
            let refused = try room.event("output.unreachable", timeout: 30) { $0.text("outputId") == "wrong" }
            #expect(refused.text("reason") == "status 403")
            try room.segments(2)
            try room.event("output.lost") { $0.text("outputId") == "wrong" }
            let uploads = try #require(try room.state()["outputs"] as? [[String: Any]]).filter { $0["target"] != nil }
            #expect(uploads.first?["state"] as? String == "live" && uploads.last?["objects"] as? Int == 0)
            publisher.stop()
            _ = try HTTPClient.request("POST", room.control, "/v1/room:end")
            try room.event("playlist.ended", timeout: 20)
            let from = service.outputLines.count
            var there = ""
            for _ in 0..<40 where !there.contains("ENDLIST") {
                service.send(Array("look\n".utf8))
                there = service.line(from: from, timeout: 10) { $0.contains("ENDLIST") }?.line ?? ""
            }
            #expect(
                there.contains(
                    #""key": "live/index.m3u8", "type": "application/vnd.apple.mpegurl", "cache": "max-age=2""#))
            #expect(there.contains(#""type": "video/mp4", "cache": "public, max-age=31536000, immutable""#))
            #expect(!there.contains("wrong/"))
            room.child.signal(SIGKILL)
        }
    }
}
