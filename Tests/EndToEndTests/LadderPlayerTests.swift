import Foundation
import Testing

extension EndToEnd {
    @Suite("hls.js and lint with half the frame rate, two audio renditions and audio only")
    struct LadderPlayerTests {
        private struct Level: Decodable {
            var frameRate: Double
            var group: String
        }

        private static func room(_ directory: String) -> String {
            let renditions = """
                [ { "name": "full", "width": 640, "height": 360, "video": { "bitrate": 600000 } },
                  { "name": "half", "width": 320, "height": 180, "fps": 15, "audio": "lo", "video": { "bitrate": 200000 } },
                  { "name": "sound", "video": null, "audio": "lo" } ],
                "audioRenditions": [ { "name": "hi", "bitrate": 128000 }, { "name": "lo", "bitrate": 48000 } ]
                """
            return Rooms.live(directory, renditions: renditions, canvas: (640, 360)).replacingOccurrences(
                of: #""windowSeconds": 600,"#, with: #""windowSeconds": 600, "preset": "lowLatency","#)
        }

        @Test(
            "hls.js switches to each video level without a stall, and plays it with the level's audio group and frame rate"
        )
        func levels() throws {
            let viewers = try Viewers.start(needsHLSJS: true)
            let work = try WorkDirectory()
            let room = try RunningRoom(Self.room(work.path("out")))
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            let tab = try viewers.watch(viewer, .hlsJS, config: #"{"startLevel":0}"#)
            Thread.sleep(forTimeInterval: 2)
            let told = try tab.evaluate(
                "JSON.stringify(hls.levels.map((level) => ({ frameRate: level.frameRate, group: level.audioGroups[0] })))"
            )
            let levels = try JSONDecoder().decode([Level].self, from: Data(told.utf8))
            // Audio only is not a level when there is video.
            #expect(levels.count == 3 && levels.filter { $0.frameRate == 15 }.map(\.group) == ["lo"])
            #expect(Set(levels.filter { $0.frameRate == 30 }.map(\.group)) == ["hi", "lo"])
            let lint = try Child(EndToEnd.binary, ["lint-hls", "\(viewer)/index.m3u8", "--duration", "12"])
            for (index, level) in levels.enumerated().reversed() {
                try tab.evaluate("hls.nextLevel = \(index); ''")
                Thread.sleep(forTimeInterval: 2.5)
                let before = try tab.evaluate(
                    "probe.video.getVideoPlaybackQuality().totalVideoFrames + ' ' + performance.now()")
                Thread.sleep(forTimeInterval: 1.5)
                let after = try tab.evaluate(
                    "probe.video.getVideoPlaybackQuality().totalVideoFrames + ' ' + performance.now()")
                let (from, to) = (
                    before.split(separator: " ").compactMap { Double($0) },
                    after.split(separator: " ").compactMap { Double($0) }
                )
                try #require(from.count == 2 && to.count == 2)
                let rate = (to[0] - from[0]) / (to[1] - from[1]) * 1000
                let now = try tab.evaluate("hls.currentLevel + ' ' + hls.audioTracks[hls.audioTrack].groupId")
                EndToEnd.report(
                    "level \(index), \(level.frameRate) pictures a second with \(level.group): \(now), \(String(format: "%.1f", rate)) shown a second"
                )
                #expect(now == "\(index) \(level.group)")
                expectTiming(rate, in: level.frameRate - 4...level.frameRate + 4, "frames shown in a second")
            }
            #expect(try lint.wait(timeout: 20) == 0, "\(lint.outputLines.joined(separator: "\n"))")
            #expect(lint.outputLines.last == "no findings")
            let report = try tab.report()
            EndToEnd.report("levels one after the other: \(report.summary)")
            #expect(report.faults.isEmpty, "\(report.errors)")
            report.expectNoStall("hls.js over its levels")
            #expect(try room.end() == 0)
            anna.stop()
        }
    }
}
