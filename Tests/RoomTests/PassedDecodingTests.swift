import MediaTypes
import TestSupport
import Testing

extension InProcess {
    @Suite("Decoding of a lone publisher that is passed through")
    struct PassedDecodingTests {
        /// Numbers and durations of the last two segments in a playlist, without the rendition's name.
        private static func end(_ playlist: WrittenPlaylist) -> [String] {
            playlist.segments.suffix(2).map { "\($0.uri.dropFirst(3)) \($0.duration)" }
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
            let awoke = try await room.run(until: "rendition.awake", from: mark, within: 4)
            let woken = source.decode.stats.undecoded
            try await room.run(seconds: 10)
            #expect(source.decode.stats.undecoded == woken)
            try await waitUntil("both list the same last segments") {
                let (small, wide) = (try directory.playlist("72p.m3u8"), try directory.playlist("90p.m3u8"))
                return small.segments.count >= 3 && Self.end(wide) == Self.end(small)
            }
            let tick = try #require(awoke.integer("tick"))
            #expect(room.segments.contains { $0.integer("firstTick") == tick }, "\(tick): \(room.segments)")
            #expect(room.events.all("passthrough.ended").isEmpty && room.events.all("passthrough.began").count == 1)
            try await room.end()
        }
    }
}
