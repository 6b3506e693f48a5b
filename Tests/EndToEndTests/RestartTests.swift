import Foundation
import Glibc
import Testing

extension Unhurried.Stores {
    @Suite("Seamless restart: the successor of a killed or suspended worker")
    struct RestartTests {
        /// Number of kills. Ten in a row are a manual measurement: TANDEM_KILLS=10.
        private static let kills =
            ProcessInfo.processInfo.environment["TANDEM_KILLS"].flatMap { Int($0) }.map { max(1, $0) } ?? 1

        /// Video at the full and at half the frame rate, and two audio codecs.
        private static let ladder = """
            [ { "name": "720p", "width": 1280, "height": 720, "audio": "hi",
                "video": { "bitrate": 2500000, "preset": "ultrafast", "bFrames": 0 } },
              { "name": "half", "width": 320, "height": 180, "fps": 15, "audio": "lo",
                "video": { "bitrate": 200000, "preset": "ultrafast", "bFrames": 0 } } ],
            "audioRenditions": [ { "name": "hi", "bitrate": 128000 }, { "name": "lo", "bitrate": 48000 } ]
            """
        /// Seconds from one frame to the next.
        private static let steps = [
            "720p.m3u8": 1.0 / 30, "half.m3u8": 1.0 / 15, "hi.m3u8": 1_024.0 / 48_000, "lo.m3u8": 1_024.0 / 48_000,
        ]

        private static func room(_ directory: String) -> String {
            Rooms.live(directory, renditions: Self.ladder).replacingOccurrences(
                of: #""windowSeconds": 600"#, with: #""windowSeconds": 600, "lowLatency": true"#)
        }

        @Test(
            "after a kill and restart each playlist has one EXT-X-MAP, no discontinuity and no gap, and every frame decodes"
        )
        func killed() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            var numbers: [Int] = []
            for run in 0...Self.kills {
                let begun = Date().timeIntervalSince1970
                let room = try RunningRoom(Self.room(directory))
                if run > 0 {
                    let filled = try room.event("output.filled")
                    let live = try room.event("segment.published") { $0.integer("slate") == 0 }
                    EndToEnd.report(
                        "restart \(run): filled \(filled.integer("durationMs") ?? -1) ms, "
                            + String(
                                format: "out after %.2f s, first live segment after %.2f s", filled.time - begun,
                                live.time - begun))
                    #expect(filled.integer("discontinuity") == 0)
                }
                let publisher = try Publisher.pattern("ANNA", to: room.url("a"))
                try room.segments(2)
                Thread.sleep(forTimeInterval: 0.3 * Double(run % 7))
                // An external kill quarantines no source.
                #expect(room.events("source.quarantined").isEmpty)
                let code = try run < Self.kills ? room.terminate(SIGKILL) : room.end()
                #expect(code == (run < Self.kills ? 128 + SIGKILL : 0))
                publisher.stop()
                numbers += room.events("segment.published").compactMap { $0.integer("mediaSequence") }
                if run < Self.kills { Thread.sleep(forTimeInterval: 1.5) }
            }
            #expect(numbers == Array(0..<numbers.count), "each number once, in order: \(numbers)")
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/crashes.jsonl"))
            let lists = try Playlist.all(in: directory)
            #expect(lists.map(\.name).sorted() == Self.steps.keys.sorted())
            for (name, playlist) in lists {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity } && !playlist.text.contains("GAP"))
                #expect(Set(playlist.segments.map(\.map)).count == 1, "\(name)")
                #expect(try media.complaints("\(directory)/\(name)") == "", "\(name)")
                let times = try media.frameTimes("\(directory)/\(name)", "0")
                let step = try #require(Self.steps[name])
                #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - step) < 0.000_1 }, "\(name)")
                #expect(
                    abs(Double(times.count) * step - playlist.duration) < max(0.03, step), "\(name): a frame is missing"
                )
            }
        }

        @Test("a worker that resumes after its successor took over publishes no further segment")
        func stoppedAndContinued() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            let first = try RunningRoom(Self.room(directory))
            let one = try Publisher.pattern("ANNA", to: first.url("a"))
            try first.segments(2)
            first.child.signal(SIGSTOP)
            // Until a new GOP has started, which slate must then fill.
            Thread.sleep(forTimeInterval: 1.2)
            let second = try RunningRoom(Self.room(directory))
            let filled = try second.event("output.filled")
            let taken = try #require(filled.integer("mediaSequence"))
            let two = try Publisher.pattern("ANNA", to: second.url("a"))
            try second.segments(1)
            first.child.signal(SIGCONT)
            let viewer = try #require(first.viewer)
            var shown = 0
            let deadline = Date(timeIntervalSinceNow: 30)
            while first.child.isRunning, Date() < deadline {
                guard let reply = try? HTTPClient.request("GET", viewer, "/720p.m3u8"), reply.status == 200 else {
                    Thread.sleep(forTimeInterval: 0.02)
                    continue
                }
                shown += 1
                let listed = Playlist(reply.body)
                #expect(listed.mediaSequence + listed.segments.count <= taken, "\(reply.body)")
                Thread.sleep(forTimeInterval: 0.02)
            }
            #expect(try first.child.wait(timeout: 20) == 143)
            EndToEnd.report("the worker that was suspended was read \(shown) times before it left")
            #expect(first.events("room.superseded").count == 1)
            #expect(first.events("segment.published").allSatisfy { ($0.integer("mediaSequence") ?? 0) < taken })
            try second.segments(1)
            #expect(try second.end() == 0)
            for publisher in [one, two] { publisher.stop() }
            for (name, playlist) in try Playlist.all(in: directory) {
                #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity } && !playlist.text.contains("GAP"))
                #expect(try media.complaints("\(directory)/\(name)") == "", "\(name)")
            }
        }
    }
}
