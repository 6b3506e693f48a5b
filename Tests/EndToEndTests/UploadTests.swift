import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("HLS uploads to an origin that fails for a while")
    struct UploadTests {
        private static func room(_ directory: String, output: String) -> String {
            Rooms.small(directory).replacingOccurrences(of: #""outputs": ["#, with: #""outputs": [ \#(output),"#)
        }

        /// Seconds for which the origin is down; 60 with `TANDEM_UPLOAD_OUTAGE=60`.
        private static let outage =
            ProcessInfo.processInfo.environment["TANDEM_UPLOAD_OUTAGE"].flatMap { Double($0) } ?? 5

        @Test(
            "while an HTTP store drops connections, no frame is late; the store's playlists stay valid, and it gets the live edge again"
        )
        func origin() throws {
            let python = try TestTool.require("python3")
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
            try #require(origin.line(from: 0, timeout: 20) { $0 == "playlist 180p.m3u8 3" } != nil)
            try Self.expectStills(room, [work.path("out") + "/thumb.jpg", work.path("out") + "/thumb-1001.jpg"])
            _ = FileManager.default.createFile(atPath: away, contents: nil)
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
                } != nil, "the live edge recovers")
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            expectOnTime(ticks)
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

        /// Checks the still images: the files, and the statuses at the viewers' listener and at the operators' listener.
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
    }
}
