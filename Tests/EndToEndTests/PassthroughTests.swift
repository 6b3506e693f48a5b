import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Passthrough: a publisher's own packets in a rendition's place")
    struct PassthroughTests {
        /// `TANDEM_PASSTHROUGH=6` goes round six times: in, a PK, in, a publisher cut off, in.
        private static let rounds =
            ProcessInfo.processInfo.environment["TANDEM_PASSTHROUGH"].flatMap { Int($0) } ?? 1

        private static func clip(_ media: Media, _ path: String, seconds: Double, bFrames: Int, gop: Int = 30) throws {
            var arguments = Publisher.arguments(
                size: "640x360", seconds: seconds, hertz: 440, isRealTime: false, bFrames: bFrames)
            for (word, value) in [("2048k", "500k"), ("60", "\(gop)")] {
                arguments = arguments.map { $0 == word ? value : $0 }
            }
            let limits = ["-profile:v", "high", "-maxrate", "500k", "-bufsize", "250k", "-y", path]
            let result = try Command.run(media.ffmpeg, arguments + limits)
            try #require(result.code == 0, "\(result.errors)")
        }

        /// The rendition's runs of segments of one initialization segment each.
        private static func runs(_ directory: String, _ name: String) throws -> [(map: String, segments: [String])] {
            var runs: [(map: String, segments: [String])] = []
            for segment in try Playlist(contentsOf: "\(directory)/\(name).m3u8").segments {
                let map = segment.map ?? ""
                if runs.last?.map == map, !segment.isDiscontinuity {
                    runs[runs.count - 1].segments.append(segment.uri)
                } else {
                    runs.append((map, [segment.uri]))
                }
            }
            return runs
        }

        /// Every picture is there once; those of the publisher are the publisher's, bit for bit and in its order.
        ///
        /// - Returns: Pictures of the publisher's.
        @discardableResult
        private static func judge(
            _ directory: String, _ clip: String, _ media: Media, work: WorkDirectory, whole: Bool
        ) throws -> Int {
            let originals = try PassedMedia.pictures(flv: clip)
            let numbers = Dictionary(originals.enumerated().map { ($1, $0) }) { first, _ in first }
            var shown: [Int64] = []
            var passed = 0
            for (index, run) in try self.runs(directory, "360p").enumerated() {
                var bytes = try Data(Files.bytes("\(directory)/\(run.map)"))
                var samples: [PassedMedia.Sample] = []
                for segment in run.segments {
                    samples += try PassedMedia.samples(segment: "\(directory)/\(segment)")
                    bytes += try Data(Files.bytes("\(directory)/\(segment)"))
                }
                shown += samples.map(\.pts)
                let path = work.path("run\(index).mp4")
                try bytes.write(to: URL(fileURLWithPath: path))
                #expect(try media.complaints(path) == "", "run \(index) of \(run.map)")
                #expect(try media.frameCount(path) == samples.count)
                let own = samples.compactMap { numbers[$0.payload] }
                guard !own.isEmpty else { continue }
                #expect(own.count == samples.count, "a publisher's run holds nothing else")
                #expect(zip(own, own.dropFirst()).allSatisfy { $1 == $0 + 1 }, "run \(index): lost or doubled pictures")
                passed += own.count
            }
            shown.sort()
            if whole {
                #expect(shown == (0..<Int64(shown.count)).map { (shown.first ?? 0) + $0 * 1_000 })
            } else {
                // Where a publisher is cut off its last picture is held for up to a fifth of a second.
                #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 >= 1_000 && $1 - $0 <= 7_000 })
            }
            return passed
        }

        @Test(
            "files, offline: solo, PK, solo; every picture once, the publisher's bit for bit, lint finds nothing",
            arguments: [(0, true), (3, true), (3, false)])
        func offline(bFrames: Int, second: Bool) throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try Self.clip(media, work.path("a.flv"), seconds: 9, bFrames: bFrames)
            try Self.clip(media, work.path("b.flv"), seconds: 9, bFrames: 0)
            let small = #", { "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 250000 } }"#
            let pipeline = """
                {
                  "room": { "roomId": "passing" }, "clock": "offline",
                  "sources": [
                    { "uid": "a", "type": "file", "path": "\(work.path("a.flv"))" },
                    { "uid": "b", "type": "file", "path": "\(work.path("b.flv"))" }
                  ],
                  "canvas": { "width": 640, "height": 360 },
                  "scenes": [
                    { "sceneId": "solo", "layout": "solo", "uids": ["a"] },
                    { "sceneId": "pk", "layout": "sideBySide", "uids": ["a", "b"] }
                  ],
                  "pk": { "scene": "pk", "start": "whenReady", "countdownMs": 3500, "durationMs": 2000,
                          "endScene": "solo" },
                  "renditions": [
                    { "name": "360p", "width": 640, "height": 360,
                      "video": { "bitrate": 700000, "passthrough": "auto" } }\(second ? small : "")
                  ],
                  "outputs": [{ "type": "hls", "path": "\(work.path("out"))", "playlistType": "event" }]
                }
                """
            let result = try Command.tandem(["run", "-"], input: pipeline)
            try #require(result.code == 0, "\(result.errors)")
            let events = result.output.split(separator: "\n").compactMap { Event(String($0)) }
            #expect(events.count { $0.type == "passthrough.began" } == 2)
            #expect(events.filter { $0.type == "passthrough.ended" }.map { $0.text("cause") } == ["scene"])
            let passed = try Self.judge(work.path("out"), work.path("a.flv"), media, work: work, whole: true)
            EndToEnd.report("\(passed) of 270 pictures are the publisher's, \(bFrames) B pictures")
            #expect(passed >= 150)
            for name in second ? ["360p", "180p", "audio"] : ["360p", "audio"] {
                let playlist = try Playlist(contentsOf: "\(work.path("out"))/\(name).m3u8")
                #expect(playlist.mistakes.isEmpty && playlist.segments.count { $0.isDiscontinuity } == 3, "\(name)")
                #expect(Set(playlist.segments.compactMap(\.map)).count == (name == "360p" ? 2 : 1))
            }
            let lint = try Command.tandem(["lint-hls", "\(work.path("out"))/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
        }

        @Test(
            "live, ffmpeg's packets: solo, PK, solo, cut off, back; hls.js goes through it without an error or a stall, lint finds nothing"
        )
        func live() throws {
            guard let media = Media.find(), let viewers = try Viewers.start() else { return }
            let work = try WorkDirectory()
            try Self.clip(media, work.path("a.flv"), seconds: Double(30 * Self.rounds), bFrames: 2)
            let room = try RunningRoom(
                Rooms.watched(work.path("out"), second: true).replacingOccurrences(
                    of: #""bitrate": 700000"#, with: #""bitrate": 700000, "passthrough": "auto""#))
            func publish() throws -> Publisher {
                try Publisher(
                    media.ffmpeg,
                    [
                        "-nostdin", "-v", "error", "-re", "-i", work.path("a.flv"), "-c", "copy", "-f", "flv",
                        room.url("a"),
                    ])
            }
            var anna = try publish()
            let ben = try Publisher.pattern("BEN", to: room.url("b"), size: "640x360")
            try room.event("passthrough.began")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            let ways = viewers.ways.filter { $0 != .page }
            let tabs = try ways.map { ($0, try viewers.watch(viewer, $0)) }
            let lint = try Child(
                EndToEnd.binary, ["lint-hls", "\(viewer)/index.m3u8", "--duration", "\(10 * Self.rounds)"])
            for _ in 0..<Self.rounds {
                var mark = room.now
                try room.put(scene: "pk")
                #expect(try room.event("passthrough.ended", from: mark).text("cause") == "scene")
                Thread.sleep(forTimeInterval: 1.5)
                mark = room.now
                try room.put(scene: "solo")
                try room.event("passthrough.began", from: mark)
                Thread.sleep(forTimeInterval: 1.5)
                mark = room.now
                anna.stop(SIGKILL)
                #expect(try room.event("passthrough.ended", from: mark).text("cause") == "lost")
                Thread.sleep(forTimeInterval: 0.5)
                anna = try publish()
                try room.event("passthrough.began", from: mark)
                Thread.sleep(forTimeInterval: 1)
            }
            let states = try room.state()["renditions"] as? [[String: Any]]
            #expect((states?.first?["passthrough"] as? [String: Any])?["uid"] as? String == "1001")
            #expect(states?.last?["passthrough"] is NSNull)
            #expect(try lint.wait(timeout: 20) == 0, "\(lint.outputLines.joined(separator: "\n"))")
            for (way, tab) in tabs {
                let report = try tab.report()
                EndToEnd.report("passthrough, \(way.rawValue): \(report.summary)")
                for error in report.errors { EndToEnd.report("\(way.rawValue) \(error)") }
                #expect(report.faults.isEmpty, "\(way.rawValue)")
                #expect(report.stalls.isEmpty, "\(way.rawValue): \(report.waits)")
                #expect(report.longestStandstill < 700, "\(way.rawValue)")
                #expect(report.time >= 4, "\(way.rawValue) did not play along")
            }
            #expect(try room.end() == 0)
            for publisher in [anna, ben] { publisher.stop() }
            let passed = try Self.judge(work.path("out"), work.path("a.flv"), media, work: work, whole: false)
            EndToEnd.report("\(passed) pictures went through bit for bit")
            #expect(passed >= 100)
        }
    }
}
