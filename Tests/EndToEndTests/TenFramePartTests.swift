import Foundation
import Testing

extension EndToEnd {
    @Suite("Parts of ten frames")
    struct TenFramePartTests {
        @Test(
            "with partFrames 10, PART-TARGET is 0.342, PART-HOLD-BACK 1.03; half of the parts are ready within 150 ms of their last frame"
        )
        func tenFrameParts() throws {
            _ = try Media.require()
            let work = try WorkDirectory()
            var text = Rooms.small(work.path("out"))
            text = text.replacingOccurrences(
                of: #""windowSeconds": 600,"#,
                with: #""windowSeconds": 600, "partFrames": 10, "preset": "lowLatency","#)
            text = text.replacingOccurrences(of: #", "preset": "ultrafast""#, with: "")
            let room = try RunningRoom(text)
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(4)
            let list = try HTTPClient.request("GET", try #require(room.viewer), "/180p.m3u8").body
            #expect(list.contains("#EXT-X-PART-INF:PART-TARGET=0.342\n") && list.contains("PART-HOLD-BACK=1.03,"))
            #expect(list.contains("#EXT-X-PART:DURATION=0.33333,"))
            let tally = try PartTally(room)
            #expect(try room.end() == 0)
            publisher.stop()
            let summary = try #require(room.events("room.closed").last?.object("summary"))
            let latency = try #require(summary["partLatencyMs"] as? [String: Any])
            EndToEnd.report("from the last picture's entry into the encoder to the part: \(latency)")
            let parts = try #require(latency["parts"] as? Int)
            #expect(parts >= 20)
            try tally.expectSoon(latency)
        }
    }
}
