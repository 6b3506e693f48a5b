import MediaTypes
import RoomSources
import TestSupport
import Testing

extension InProcess {
    @Suite("Sources of which only key frames are decoded")
    struct PassedDecodingTests {
        /// Numbers and durations of the last two segments in a playlist, without the rendition's name.
        private static func end(_ playlist: WrittenPlaylist) -> [String] {
            playlist.segments.suffix(2).map { "\($0.uri.dropFirst(3)) \($0.duration)" }
        }

        @Test(
            "while all but the passed-through rendition sleep, only key frames are decoded; a sleeping one wakes where a segment begins"
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

        @Test("while the only rendition of a PK sleeps, key frames alone are decoded; all frames are before it wakes")
        func unwatched() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path, scene: "pk", hls: #", "windowSeconds": 12"#)
                .replacing(#""lowLatency": false, "http": { "listen": null }"#, with: #""lowLatency": true"#)
                .replacing(
                    #""video": { "bitrate": 100000"#, with: #""when": "watched", "video": { "bitrate": 100000"#)
            let room = try await RoomHarness.open(pipeline)
            let roster = room.room.sourceParts.roster
            var sources: [RoomSource] = []
            for uid in [HarnessRooms.first, HarnessRooms.second] {
                try await room.goLive(uid)
                sources.append(try #require(roster.sources[SourceID(uid: uid)]))
            }
            func undecoded() -> [Int] { sources.map(\.decode.stats.undecoded) }
            try await room.run(seconds: 5)
            let awake = undecoded()
            try await room.run(seconds: 5)
            #expect(undecoded() == awake, "the rendition shows every frame")
            try await room.run(until: "rendition.asleep", within: 40)
            try await room.run(seconds: 3)
            let asleep = undecoded()
            try await room.run(seconds: 5)
            #expect(zip(undecoded(), asleep).allSatisfy { $0 >= $1 + 30 }, "of 50 frames, five are key frames")

            let mark = room.events.count
            try await room.command(.post, "/v1/renditions/90p:demand", #"{"seconds":40}"#, status: 202)
            try await room.run(until: "rendition.awake", from: mark, within: 4)
            let woken = undecoded()
            try await room.run(seconds: 5)
            #expect(undecoded() == woken)
            #expect(room.events.all("source.stalled").isEmpty)
            try await room.end()
        }

        @Test("all frames of one source off air are decoded as long as a page requests its live stills")
        func enlarged() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            for uid in [HarnessRooms.first, HarnessRooms.second] { try await room.goLive(uid) }
            let hidden = try #require(room.room.sourceParts.roster.sources[SourceID(uid: HarnessRooms.second)])
            func undecoded() -> Int { hidden.decode.stats.undecoded }
            try await room.run(seconds: 4)
            let before = undecoded()
            try await room.run(seconds: 3)
            #expect(undecoded() >= before + 15, "it is not on air")
            var shown: Set<String> = []
            var enlarged = 0
            for turn in 0..<10 {
                shown.insert(try await room.command(.get, "/v1/sources/2002/still.jpg?width=64&live=true").body)
                try await room.run(seconds: 0.3)
                if turn == 1 { enlarged = undecoded() }
            }
            #expect(undecoded() == enlarged)
            #expect(shown.count >= 8, "with key frames alone there would be about four different stills")
            try await room.run(seconds: 2)
            let left = undecoded()
            try await room.run(seconds: 3)
            #expect(undecoded() >= left + 15, "no page shows it any more")
            try await room.end()
        }
    }
}
