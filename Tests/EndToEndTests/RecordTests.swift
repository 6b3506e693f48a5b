import Foundation
import Glibc
import Testing

extension Unhurried.Records {
    @Suite("A recording continued by successors")
    struct RecordTests {
        private static func room(_ work: WorkDirectory) -> String {
            let pk =
                #""pk": { "scene": "pk", "countdownMs": 0, "durationMs": 60000, "punishMs": 0, "endScene": "solo" }, "#
            return Rooms.small(work.path("out"), members: pk).replacingOccurrences(
                of: #""outputs": ["#,
                with: #""outputs": [ { "type": "record", "path": "\#(work.path("recording"))" },"#)
        }

        @Test(
            "after one worker is killed in a PK and the next while making files, the recording has every published frame and a PK chapter"
        )
        func killed() throws {
            let media = try Media.require()
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
                // The successor continues the PK of the killed worker.
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
            // If the files were made before the kill, nothing is left to do.
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
