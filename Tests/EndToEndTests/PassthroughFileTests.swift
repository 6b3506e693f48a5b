import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("Passthrough of files: a publisher's own packets become a rendition")
    struct PassthroughFileTests {
        @Test(
            "in an offline job with passthrough, from solo to a PK and back, each frame appears once; passed packets equal the source's",
            arguments: [(0, true), (3, true), (3, false)])
        func offline(bFrames: Int, second: Bool) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try PassedRoom.clip(media, work.path("a.flv"), seconds: 9, bFrames: bFrames)
            try PassedRoom.clip(media, work.path("b.flv"), seconds: 9, bFrames: 0)
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
            let passed = try PassedRoom.judge(work.path("out"), work.path("a.flv"), media, work: work, whole: true)
            EndToEnd.report("\(passed) of 270 pictures are the publisher's, \(bFrames) B pictures")
            #expect(passed >= 150)
            for name in second ? ["360p", "180p", "audio"] : ["360p", "audio"] {
                let playlist = try Playlist(contentsOf: "\(work.path("out"))/\(name).m3u8")
                #expect(playlist.mistakes.isEmpty && playlist.segments.count { $0.isDiscontinuity } == 3, "\(name)")
                // The publisher's and the encoder's parameter sets share one initialization segment.
                #expect(Set(playlist.segments.compactMap(\.map)).count == 1, "\(name)")
            }
            let lint = try Command.tandem(["lint-hls", "\(work.path("out"))/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
        }
    }
}
