import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Passthrough: a publisher's own packets become a rendition")
    struct PassthroughTests {
        /// `TANDEM_PASSTHROUGH=10` runs ten rounds: passthrough, a PK, passthrough, a publisher cut off, passthrough.
        /// This is the full test with 20 joins; it needs `TANDEM_TEST_MINUTES=10`.
        private static let rounds =
            ProcessInfo.processInfo.environment["TANDEM_PASSTHROUGH"].flatMap { Int($0) } ?? 1

        @Test(
            "with passthrough, over a PK, a loss and a return of the publisher, browser players have no error or stall; lint finds nothing"
        )
        func live() throws {
            let (media, viewers) = (try Media.require(), try Viewers.start())
            let work = try WorkDirectory()
            try PassedRoom.clip(media, work.path("a.flv"), seconds: Double(30 * Self.rounds), bFrames: 2)
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
            try room.segments(2, countsShort: true)
            let viewer = try #require(room.viewer)
            let ways = viewers.ways.filter { $0 != .page }
            let tabs = try ways.map { ($0, try viewers.watch(viewer, $0)) }
            // FFmpeg's decoder does not read a second initialization segment. Frames with other parameter sets are
            // garbage to it, and it logs that.
            let mpv = try NativePlayer.mpv.play("\(viewer)/index.m3u8")
            // Players that must survive the changes start before the first.
            for (_, tab) in tabs { try tab.awaitPlaying() }
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
            // For players that are three segments behind instead of two.
            Thread.sleep(forTimeInterval: 2)
            let states = try room.state()["renditions"] as? [[String: Any]]
            #expect((states?.first?["passthrough"] as? [String: Any])?["uid"] as? String == "1001")
            #expect(states?.last?["passthrough"] is NSNull)
            #expect(try lint.wait(timeout: 20) == 0, "\(lint.outputLines.joined(separator: "\n"))")
            for (way, tab) in tabs {
                let report = try tab.report()
                EndToEnd.report("passthrough, \(way.rawValue): \(report.summary)")
                tab.tell(report, way)
                #expect(report.faults.isEmpty, "\(way.rawValue)")
                report.expectNoStall(way.rawValue)
                expectTiming(report.longestStandstill, atMost: 700, "ms for which \(way.rawValue) stalled")
                expectTiming(report.time, atLeast: 4, "seconds that \(way.rawValue) played")
            }
            if let outcome = mpv?.stop() {
                let messages = outcome.complaints.filter {
                    $0.contains(/PPS|SPS|NAL|slice|decod|conceal|corrupt/.ignoresCase())
                }
                EndToEnd.report("passthrough, \(outcome); \(messages.count) messages of its decoder")
                // Its decoder may log something at a change; the guide lists what was measured.
                #expect(!outcome.gaveUp, "\(outcome)")
                expectTiming(outcome.frameCount, atLeast: 90, "frames shown: \(outcome)")
            }
            #expect(try room.end() == 0)
            for publisher in [anna, ben] { publisher.stop() }
            let passed = try PassedRoom.judge(work.path("out"), work.path("a.flv"), media, work: work, whole: false)
            EndToEnd.report("\(passed) pictures went through bit for bit")
            #expect(passed >= 100)
        }
    }
}
