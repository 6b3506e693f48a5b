import MediaTypes
import TestSupport
import Testing

extension InProcess {
    @Suite("Decoding of a lone publisher that is passed through")
    struct PassedDecodingTests {
        private static func uris(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        }

        @Test(
            "while the other rendition sleeps, only key frames are decoded; it wakes where a segment of the room begins"
        )
        func sleeping() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path, hls: #", "windowSeconds": 12"#)
                .replacing(#""lowLatency": false, "http": { "listen": null }"#, with: #""lowLatency": true"#)
                .replacing(
                    #""video": { "bitrate": 100000, "preset": "ultrafast" }"#,
                    with: #""video": { "bitrate": 400000, "preset": "ultrafast", "passthrough": "auto" }"#
                )
                .replacing(
                    #""renditions": ["#,
                    with: """
                        "renditions": [
                          { "name": "72p", "width": 128, "height": 72, "when": "watched",
                            "video": { "bitrate": 60000, "preset": "ultrafast" } },
                        """)
            let room = try await RoomHarness.open(pipeline)
            try await room.goLive(HarnessRooms.first)
            let source = try #require(room.room.sourceParts.roster.sources[SourceID(uid: HarnessRooms.first)])
            try await room.run(until: "passthrough.began", within: 10)
            let awake = source.decode.stats.undecoded
            try await room.run(until: "rendition.asleep", within: 40)
            #expect(source.decode.stats.undecoded <= awake + 10, "the other rendition showed every frame")
            try await room.run(seconds: 3)
            let asleep = source.decode.stats.undecoded
            try await room.run(seconds: 5)
            #expect(source.decode.stats.undecoded >= asleep + 30, "of 50 frames, five are key frames")

            let mark = room.events.count
            try await room.command(.post, "/v1/renditions/72p:demand", #"{"seconds":40}"#, status: 202)
            try await room.run(until: "rendition.awake", from: mark, within: 4)
            let woken = source.decode.stats.undecoded
            try await room.run(seconds: 10)
            #expect(source.decode.stats.undecoded == woken)
            try await waitUntil("it is listed", { try directory.text(of: "72p.m3u8") }) { Self.uris($0).count >= 3 }
            let (small, wide) = (
                Self.uris(try directory.text(of: "72p.m3u8")), Self.uris(try directory.text(of: "90p.m3u8"))
            )
            #expect(wide.suffix(2).map { $0.dropFirst(3) } == small.suffix(2).map { $0.dropFirst(3) })
            #expect(room.events.all("passthrough.ended").isEmpty && room.events.all("passthrough.began").count == 1)
            try await room.end()
        }
    }
}
