import MediaTypes
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("Who may publish, and what becomes of a room without publishers")
    struct AccessTests {
        @Test("a kick with refuseSeconds 300 refuses at 299 s and admits at 301 s")
        func kick() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path, fps: 5))
            try await room.goLive(HarnessRooms.first)
            let mark = room.events.count
            let reply = try await room.command(.post, "/v1/sources/1001:kick", #"{"refuseSeconds":300}"#)
            #expect(reply.member("wasPublishing")?.content == .boolean(true))
            #expect(reply.member("refused", "reason")?.string == "kicked")
            #expect(room.events.all("source.kicked", uid: HarnessRooms.first, from: mark).count == 1)
            #expect(room.events.all("ingest.lost", uid: HarnessRooms.first, from: mark).count == 1)
            try await room.run(seconds: 299)
            await #expect(throws: ScriptedPublisher.Refused.self) { try await room.connect(HarnessRooms.first) }
            #expect(room.events.all("ingest.refused", from: mark).count == 1)
            try await room.run(seconds: 2)
            try await room.goLive(HarnessRooms.first)
            let source = try await room.command(.get, "/v1/sources/1001")
            #expect(source.member("refused")?.content == .null)
            try await room.end()
        }

        @Test("a kick that is lifted admits at once, and one of an unknown source is 404")
        func lifted() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first)
            try await room.command(.post, "/v1/sources/1001:kick", #"{"refuseSeconds":600}"#)
            await #expect(throws: ScriptedPublisher.Refused.self) { try await room.connect(HarnessRooms.first) }
            let reply = try await room.command(.post, "/v1/sources/1001:kick", #"{"refuseSeconds":0}"#)
            #expect(reply.member("refused")?.content == .null)
            try await room.goLive(HarnessRooms.first)
            try await room.command(.post, "/v1/sources/9:kick", status: 404)
            try await room.end()
        }

        @Test("a room that nobody comes to ends when its pipeline says")
        func nobodyCame() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, members: #""idle": { "waitForFirstSourceSeconds": 3 },"#))
            try await room.run(seconds: 2.9)
            #expect(room.events.all("room.ending").isEmpty)
            let ending = try await room.run(until: "room.ending", within: 0.5)
            #expect(ending.text("code") == "idleTimeout")
            guard case .ended = try await room.finish() else {
                Issue.record("the room has not ended")
                return
            }
            #expect(room.events.all("room.closed").map { $0.text("code") } == ["idleTimeout"])
        }

        @Test("waiting, preparing, live, recovering, live again, and over when nobody comes back")
        func everybodyLeft() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, members: #""idle": { "maxIdleSeconds": 20 },"#))
            try await room.goLive(HarnessRooms.first)
            // A segment is published in real time.
            try await room.run(seconds: 3)
            try await offPool { try room.events.wait("broadcast.active") }
            try await room.run(until: "room.state") { $0.text("to") == "live" }
            #expect(try await room.state().member("state")?.string == "live")
            try await room.drop(HarnessRooms.first)
            try await room.run(seconds: 0.2)
            #expect(try await room.state().member("state")?.string == "recovering")
            #expect(try await room.state().member("cause")?.string == "media")
            try await room.run(seconds: 15)
            try await room.goLive(HarnessRooms.first)
            try await room.run(seconds: 0.2)
            #expect(try await room.state().member("state")?.string == "live")
            let mark = room.events.count
            try await room.drop(HarnessRooms.first)
            try await room.run(seconds: 19.8)
            #expect(room.events.all("room.ending", from: mark).isEmpty)
            let ending = try await room.run(until: "room.ending", from: mark, within: 0.5)
            #expect(ending.text("code") == "idleTimeout")
            _ = try await room.finish()
            let states = room.events.all("room.state")
            #expect(
                states.compactMap { $0.text("to") } == [
                    "waiting", "preparing", "live", "recovering", "live", "recovering", "ending", "closed",
                ])
            #expect(states.dropFirst().map { $0.text("from") } == states.dropLast().map { $0.text("to") })
        }
    }
}
