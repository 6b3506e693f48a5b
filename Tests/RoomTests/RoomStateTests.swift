import MediaTypes
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("Room states in events, the state document and metrics")
    struct StateTests {
        private static let members = """
            "control": { "compat": ["flipflop", "nertc", "agora", "remon"] }, "idle": { "maxIdleSeconds": 20 },
            "alarms": { "windowMs": 2000, "clearAfterMs": 0 },
            """

        /// The name of an event in another product's vocabulary.
        private static func word(_ event: ToldEvent, _ vocabulary: String, _ name: String) -> String? {
            let node = event.member("compat", vocabulary, name)
            return node?.string ?? node?.integer.map { "\($0)" }
        }

        private func expect(_ room: RoomHarness, _ word: String, cause: String?) async throws {
            let state = try await room.state()
            #expect(state.member("state")?.string == word && state.member("cause")?.string == cause)
            let metrics = try await room.command(.get, "/metrics").body
            #expect(metrics.contains("tandem_state{state=\"\(word)\"} 1"))
        }

        @Test(
            "a room reports waiting, preparing, live, recovering, live, recovering, ending and closed in order, the end by idle timeout"
        )
        func way() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path, members: Self.members))
            func state(_ word: String, from start: Int = 0) throws -> ToldEvent {
                try #require(room.events.all("room.state", from: start).first { $0.text("to") == word }, "\(word)")
            }
            #expect(try Self.word(state("waiting"), "remon", "state") == "WAIT")
            try await room.goLive(HarnessRooms.first)
            let publishing = try #require(room.events.all("source.publishing").first)
            let shown = try #require(room.events.all("source.live").first)
            #expect(Self.word(publishing, "flipflop", "streamKey") == "ACTIVE_PREP")
            #expect(Self.word(shown, "flipflop", "streamKey") == "ACTIVE")
            #expect(try Self.word(state("preparing"), "remon", "state") == "CONNECT")
            // A segment is published in real time.
            try await room.run(seconds: 3)
            try await room.told("broadcast.active")
            let live = try await room.run(until: "room.state") { $0.text("to") == "live" }
            #expect(Self.word(live, "flipflop", "streamKey") == "ACTIVE_LIVE")
            #expect(Self.word(live, "flipflop", "videoRoom") == "LIVE" && Self.word(live, "agora", "state") == "2")
            try await self.expect(room, "live", cause: nil)

            let left = room.events.count
            try await room.drop(HarnessRooms.first)
            try await room.run(seconds: 0.2)
            let recovering = try state("recovering", from: left)
            #expect(recovering.text("cause") == "media" && Self.word(recovering, "agora", "name") == "RECOVERING")
            #expect(Self.word(recovering, "flipflop", "videoRoom") == "LIVE_INACTIVE")
            #expect(Self.word(recovering, "nertc", "state") == "505")
            try await self.expect(room, "recovering", cause: "media")
            let alarm = try await room.run(until: "alarm.set", uid: HarnessRooms.first, from: left) {
                $0.member("alarm", "type")?.string == "source.lost"
            }

            try await room.run(seconds: 10)
            try await room.goLive(HarnessRooms.first)
            try await room.run(seconds: 0.2)
            let back = try state("live", from: left)
            #expect(Self.word(back, "flipflop", "broadcast") == "active" && Self.word(back, "agora", "state") == "2")
            let resumed = try #require(room.events.all("ingest.publishing", from: left).first)
            #expect(Self.word(resumed, "flipflop", "streamKey") == "ACTIVE_LIVE_PREP")
            try await room.run(until: "alarm.cleared", from: left) { $0.text("id") == alarm.text("id") }

            let mark = room.events.count
            try await room.drop(HarnessRooms.first)
            try await room.run(seconds: 19.8)
            #expect(room.events.all("room.ending", from: mark).isEmpty)
            let ending = try await room.run(until: "room.ending", from: mark, within: 0.5)
            #expect(ending.text("code") == "idleTimeout")
            guard case .ended = try await room.finish() else {
                Issue.record("the room has not ended")
                return
            }
            #expect(room.room.endCode == .idleTimeout)
            let closed = try #require(room.events.all("room.closed").first)
            #expect(closed.text("code") == "idleTimeout" && closed.text("outcome") == "ended")
            #expect(room.events.types().last == "room.closed")
            #expect(try directory.playlist("90p.m3u8").isEnded)
            func ids(_ type: String) -> Set<String?> { Set(room.events.all(type).map { $0.text("id") }) }
            #expect(ids("alarm.set") == ids("alarm.cleared"), "no alarm outlives its worker")
            let states = room.events.all("room.state")
            #expect(
                states.compactMap { $0.text("to") } == [
                    "waiting", "preparing", "live", "recovering", "live", "recovering", "ending", "closed",
                ])
            #expect(states.map { $0.text("from") } == ["starting"] + states.dropLast().map { $0.text("to") })
        }

        @Test(
            "the replies of GET match their schemas while the room has a PK, a relay, an alarm, a refused source and a recording"
        )
        func objects() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pk = #""pk": { "scene": "pk", "durationMs": 120000, "endScene": "solo" },"#
            let relay = #", "relays": [{ "relayId": "other", "url": "rtmp://other.example/live/key" }]"#
            let record = #", { "type": "record", "path": "\#(directory.path)/recording" }"#
            let room = try await RoomHarness.open(
                HarnessRooms.duel("\(directory.path)/out", members: Self.members + pk, source: relay, outputs: record))
            try await room.goLive(HarnessRooms.first)
            try await room.command(.post, "/v1/sources/2002:kick", #"{"refuseSeconds":300}"#)
            try await room.run(seconds: 3)
            let mark = room.events.count
            try await room.drop(HarnessRooms.first)
            try await room.run(until: "alarm.set", uid: HarnessRooms.first, from: mark) {
                $0.member("alarm", "type")?.string == "source.lost"
            }

            let state = try await room.state()
            #expect(state.member("pk", "phase")?.string == "idle")
            #expect(state.member("disk", "level")?.string != nil)
            #expect(state.member("overload", "lagMs")?.integer != nil)
            #expect(state.element("outputs", "type", "hls")?[key: "playlist"]?.string != nil)
            #expect(state.element("outputs", "type", "record")?[key: "take"]?.integer == 1)
            #expect(state.element("alarms", "type", "source.lost")?[key: "state"]?.string == "set")
            let lost = try #require(state.element("sources", "uid", HarnessRooms.first)?[key: "health"])
            #expect(lost[key: "level"]?.string == "alert_3" && lost[key: "causes"]?.text() == #"["absent"]"#)
            let kicked = try #require(state.element("sources", "uid", HarnessRooms.second))
            #expect(kicked[key: "refused"]?[key: "reason"]?.string == "kicked")
            #expect(kicked[key: "relays"]?.text().contains(#""state":"waiting""#) == true)

            try await room.read("/v1/sources", "SourceList")
            try await room.read("/v1/sources/2002", "Source")
            try await room.read("/v1/stats", "Statistics")
            try await room.read("/v1/stats?level=debug", "Statistics")
            try await room.read("/v1/alarms", "AlarmList")
            try await room.end()
        }

        @Test(
            "a room whose `--duration` is over reports ending and closed, with outcome ended, and has published all its ticks"
        )
        func duration() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path)) {
                // The effect of `--duration 4`.
                $0.pipeline.durationMs = 4_000
            }
            try await room.goLive(HarnessRooms.first)
            let ending = try await room.run(until: "room.ending", within: 6)
            #expect(ending.text("reason") == "the program is over" && ending.text("code") == nil)
            guard case .ended = try await room.finish() else {
                Issue.record("the room has not ended")
                return
            }
            #expect(room.events.all("room.state").suffix(2).map { $0.text("to") } == ["ending", "closed"])
            #expect(room.events.all("room.closed").map { $0.text("outcome") } == ["ended"])
            #expect(try directory.playlist("90p.m3u8").isEnded && room.publishedTicks == 40)
        }
    }
}
