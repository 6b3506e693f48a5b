import Foundation
import Testing

extension EndToEnd {
    @Suite("Native players: ffmpeg, mpv, GStreamer with both of its HLS demuxers, VLC")
    struct NativePlayerTests {
        @Test(
            "each installed one of ffmpeg, mpv, GStreamer and VLC plays a live room with scene changes without an error"
        )
        func livePlayers() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180"),
                try Publisher.pattern("BEN", to: room.url("b"), size: "320x180"),
            ]
            try room.event("source.live", uid: "2002")
            // GStreamer's old demuxer starts three segments before the live edge.
            try room.segments(4)
            let viewer = try #require(room.viewer)
            let plays = try NativePlayer.allCases.compactMap { try $0.play("\(viewer)/index.m3u8") }
            for scene in ["pk", "solo", "pk"] {
                Thread.sleep(forTimeInterval: 2.2)
                try room.put(scene: scene)
            }
            Thread.sleep(forTimeInterval: 1)
            for outcome in plays.map({ $0.stop() }) {
                EndToEnd.report("\(outcome)")
                #expect(!outcome.gaveUp, "\(outcome)")
                #expect(outcome.complaints == [], "\(outcome.player.rawValue)")
                expectTiming(outcome.frameCount, atLeast: 90, "frames shown: \(outcome)")
            }
            #expect(try room.end() == 0)
            publishers.forEach { $0.stop() }
        }
    }
}
