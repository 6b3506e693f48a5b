import Foundation
import Testing

extension EndToEnd {
    @Suite("Part latency of a full-size PK with the low-latency preset")
    struct PartLatencyTests {
        private static let seconds =
            ProcessInfo.processInfo.environment["TANDEM_PK_SECONDS"].flatMap { Double($0) } ?? 7

        @Test(
            "with two 720p publishers, half of the parts are ready within 150 ms of their last frame, and 90 % within 160 ms"
        )
        func ladderOfThree() throws {
            let work = try WorkDirectory()
            let pipeline = Rooms.live(work.path("out"), scene: "pk").replacingOccurrences(
                of: #""windowSeconds": 600,"#, with: #""windowSeconds": 600, "preset": "lowLatency","#)
            let room = try RunningRoom(pipeline)
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a")), try Publisher.pattern("BEN", to: room.url("b")),
            ]
            try room.event("source.live", uid: "2002")
            try room.segments(1)
            let end = Date(timeIntervalSinceNow: Self.seconds)
            for index in 0... {
                guard Date() < end else { break }
                try room.put(scene: index.isMultiple(of: 2) ? "solo" : "pk")
                Thread.sleep(until: min(end, Date(timeIntervalSinceNow: 1.3)))
            }
            let tally = try PartTally(room)
            #expect(try room.end() == 0)
            publishers.forEach { $0.stop() }
            let summary = try #require(room.events("room.closed").last?.object("summary"))
            let latency = try #require(summary["partLatencyMs"] as? [String: Any])
            EndToEnd.report(
                "PK of 1280x720 in the default ladder, from a part's last picture to the part, ms: \(latency)")
            let parts = try #require(latency["parts"] as? Int)
            expectTiming(parts, atLeast: Int(Self.seconds) * 4, "parts in \(Self.seconds) s")
            try tally.expectSoon(latency)
        }
    }
}
