import Foundation
import Testing

extension EndToEnd {
    @Suite("A live room, observed from outside")
    struct LiveTests {
        @Test(
            "if a room with two publishers goes from solo to a PK and back, no frame is lost, and at the end its playlists are ended"
        )
        func wholeRoom() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.live(directory))
            let first = try Publisher.ffmpeg(media.ffmpeg, to: room.url("a"))
            let live = try room.event("source.live", uid: "1001")
            #expect(live.text("picture")?.hasPrefix("1280x720") == true)
            let segment = try room.event("segment.published")
            let untilSegment = segment.time - live.time
            EndToEnd.report(
                "first segment \(String(format: "%.3f", untilSegment)) s after the first frame (limit: 4.5)")
            expectTiming(untilSegment, atMost: 4.5, "seconds from the first frame to the first segment")
            let second = try Publisher.pattern("BEN", to: room.url("b"))
            let publishing = try room.event("ingest.publishing", uid: "2002")
            let guest = try room.event("source.live", uid: "2002")
            EndToEnd.report(
                "second pane \(String(format: "%.3f", guest.time - publishing.time)) s after its publish")
            try room.put(scene: "pk")
            try room.segments(2)
            let state = try room.state()
            #expect((state["program"] as? [String: Any])?["scene"] as? String == "pk")
            try room.put(scene: "solo")
            try room.segments(1)
            #expect(room.events("program.scene").map { $0.text("scene") } == ["pk", "solo"])
            #expect(try room.end() == 0)
            first.stop()
            second.stop()
            try self.expectWhole(room, directory, media)
        }

        private func expectWhole(_ room: RunningRoom, _ directory: String, _ media: Media) throws {
            let segments = room.events("segment.published")
            let start = try #require(room.events("program.started").first?.integer("firstTick"))
            let last = try #require(segments.last)
            let ticks = try #require(last.integer("firstTick")) + #require(last.integer("ticks")) - start
            #expect(try media.complaints("\(directory)/index.m3u8") == "")
            for (name, playlist) in try Playlist.all(in: directory) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(playlist.segments.count == segments.count, "\(name)")
                #expect(try media.complaints("\(directory)/\(name)") == "", "\(name)")
                guard name != "audio.m3u8" else { continue }
                #expect(try media.frameCount("\(directory)/\(name)") == ticks, "\(name): a frame is lost")
            }
            let summary = try #require(room.events("room.closed").first).object("summary")
            let counts = summary["ticks"] as? [String: Any] ?? [:]
            expectOnTime(counts, isLateAllowed: true)
            // The scene changed twice.
            let swap = try #require(counts["longestSwapUs"] as? Int)
            expectTiming(swap, atMost: 2_000, "µs of the longest scene change")
            EndToEnd.report(
                "live room: \(ticks) frames, late \(counts["late"] ?? "?"), lost \(counts["lost"] ?? "?"), longest change of "
                    + "scenes \(swap) µs")
        }
    }
}
