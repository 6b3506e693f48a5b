import Foundation
import Glibc
import HLS
import Testing

extension Unhurried.Stores {
    @Suite("A room is recorded: what it leaves behind is what was on air")
    struct RecordTests {
        private static func room(_ work: WorkDirectory) -> String {
            let pk =
                #""pk": { "scene": "pk", "countdownMs": 0, "durationMs": 60000, "punishMs": 0, "endScene": "solo" }, "#
            return Rooms.small(work.path("out"), members: pk).replacingOccurrences(
                of: #""outputs": ["#,
                with: #""outputs": [ { "type": "record", "path": "\#(work.path("recording"))" },"#)
        }

        @Test("a room that ends before anybody has published owes no recording: exit 0")
        func nobody() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Self.room(work))
            #expect(try room.end() == 0)
            let closed = try #require(room.events("room.closed").first)
            #expect(closed.text("outcome") == "ended" && closed.text("recording") == nil)
            #expect(room.events("recording.finishing").isEmpty && room.events("recording.failed").isEmpty)
        }

        @Test("stopped and started again while the room goes on, over a kill: two recordings, no picture in both")
        func takes() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
            let record = work.path("recording")
            func command(_ room: RunningRoom, _ verb: String) throws -> HTTPClient.Reply {
                try HTTPClient.request("POST", room.control, "/v1/outputs/\(verb)", body: "{}")
            }
            func output(_ room: RunningRoom) throws -> [String: Any] {
                let outputs = try room.state()["outputs"] as? [[String: Any]] ?? []
                return try #require(outputs.first { $0["type"] as? String == "record" })
            }
            var segments: [Event] = []
            var origin: Int64 = 0
            for run in 0...1 {
                let room = try RunningRoom(Self.room(work))
                let publisher = try Publisher(
                    EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url("a"), "--loop"])
                try room.event("source.live", uid: "1001")
                try room.segments(2)
                origin = try #require(
                    room.events("program.started").first?.text("origin").flatMap { ProgramDate.parse($0) })
                #expect(try output(room)["state"] as? String == "recording")
                #expect(try output(room)["take"] as? Int == run + 1)
                if run == 0 {
                    #expect(try command(room, "record:start").json()["state"] as? String == "recording")
                    for _ in 0..<2 { #expect(try command(room, "record:stop").status == 202) }
                    let ready = try room.event("recording.ready", timeout: 20)
                    #expect(ready.text("path") == record && ready.line.contains(#""onAir":true"#))
                    #expect(try output(room)["state"] as? String == "stopped")
                    // The first of the two may be the take's last.
                    try room.segments(2)
                    for _ in 0..<2 { #expect(try command(room, "record:start").status == 202) }
                    #expect(room.events("output.started").map { $0.text("path") } == [record + "/take-2"])
                    #expect(room.events("output.stopped").map { $0.text("outputId") } == ["record"])
                    try room.segments(2)
                    #expect(try command(room, "hls:stop").status == 409 && command(room, "x:stop").status == 404)
                    _ = try room.terminate(SIGKILL)
                } else {
                    #expect(try room.end() == 0)
                    #expect(room.events("recording.ready").map { $0.text("path") } == [record + "/take-2"])
                    #expect(room.events("room.closed").first?.text("recording") == "ready")
                }
                segments += room.events("segment.published")
                publisher.stop(SIGKILL)
            }
            var ends: [Int64] = []
            for directory in [record, record + "/take-2"] {
                let bytes = try Files.bytes(directory + "/recording.json")
                let manifest = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
                if directory == record { #expect(manifest["complete"] as? Bool == true) }
                let frames = try #require(manifest["frames"] as? Int)
                #expect(try media.complaints(directory + "/180p.mp4") == "")
                #expect(try media.frameCount(directory + "/180p.mp4") == frames)
                #expect(try media.frameCount(directory + "/180p.m3u8") == frames)
                let lint = try Command.tandem(["lint-hls", directory + "/index.m3u8"])
                #expect(lint.code == 0, "\(lint.output)")
                let start = try #require((manifest["start"] as? String).flatMap { ProgramDate.parse($0) })
                let first = ((start - origin) * 30 + 500_000_000) / 1_000_000_000
                // Whole segments, as they were listed, from the take's first one on.
                let listed = segments.filter { Int64($0.integer("firstTick") ?? -1) >= first }
                    .compactMap { $0.integer("ticks") }
                #expect(listed.indices.contains { listed[...$0].reduce(0, +) == frames }, "\(frames) of \(listed)")
                if let end = ends.last { #expect(first > end, "what was on air between the two is in neither") }
                ends.append(first + Int64(frames))
                if directory != record { #expect(listed.reduce(0, +) == frames, "to the end of the room") }
            }
        }

        @Test(
            "a PK, a worker killed in the midst, a worker killed over the files: chapters, every picture, every sound")
        func killed() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
            var frames = 0
            for run in 0...1 {
                let room = try RunningRoom(Self.room(work))
                let publishers = try ["a", "b"].map {
                    try Publisher(EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url($0), "--loop"])
                }
                try room.event("source.live", uid: "2002")
                try room.segments(1)
                // The PK of the worker that was killed goes on in its successor.
                let started = try HTTPClient.request("POST", room.control, "/v1/pk:start", body: "{}").status
                #expect(started == (run == 0 ? 200 : 409))
                try room.segments(2)
                if run == 1 {
                    #expect(try HTTPClient.request("POST", room.control, "/v1/pk:end", body: "{}").status == 200)
                    try room.segments(1)
                    _ = try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}")
                    try room.event("recording.finishing")
                }
                _ = try room.terminate(SIGKILL)
                frames += room.events("segment.published").compactMap { $0.integer("ticks") }.reduce(0, +)
                for publisher in publishers { publisher.stop(SIGKILL) }
            }
            // If the files were made before the kill came, there is nothing left to do.
            let manifest = work.path("recording/recording.json")
            if !FileManager.default.fileExists(atPath: manifest) {
                let result = try Command.tandem(["run", "-"], input: Self.room(work))
                #expect(result.code == 0 && result.output.contains("recording.ready"), "\(result.errors)")
            }
            let movie = try #require(
                try FileManager.default.contentsOfDirectory(atPath: work.path("recording")).first {
                    $0.hasSuffix(".mp4") && !$0.contains("-")
                })
            let path = work.path("recording/\(movie)")
            #expect(try media.complaints(path) == "")
            #expect(try media.frameCount(path) == frames)
            let result = try Command.run(
                media.ffprobe,
                [
                    "-v", "error", "-show_chapters", "-show_entries", "chapter=start_time:chapter_tags=title", "-of",
                    "csv=p=0", path,
                ])
            let titles = result.output.split(separator: "\n").compactMap {
                $0.split(separator: ",").last.map(String.init)
            }
            EndToEnd.report("chapters of \(frames) pictures: \(titles.joined(separator: ", "))")
            #expect(titles.contains("pk") && titles.last == "solo")
            let lint = try Command.tandem(["lint-hls", work.path("recording/index.m3u8")])
            #expect(lint.code == 0, "\(lint.output)")
        }
    }
}
