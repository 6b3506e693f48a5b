import HLS
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("PK phases on the room's clock, and lost sources during a PK")
    struct PKTests {
        @Test("a PK of 120 s ends by timer, to the millisecond, and then its end scene is on air")
        func timer() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pk = #""pk": { "scene": "pk", "durationMs": 120000, "endScene": "solo" },"#
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path, members: pk, fps: 5))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            let started = try await room.command(.post, "/v1/pk:start")
            #expect(started.member("phase")?.string == "pk" && started.member("remainingMs")?.integer == 120_000)
            try await room.run(seconds: 119.95)
            #expect(room.events.all("pk.ended").isEmpty)
            #expect(try await room.state().member("pk", "remainingMs")?.integer == 50)
            try await room.run(seconds: 0.4)
            let begin = try #require(room.events.all("pk.started").first)
            let end = try #require(room.events.all("pk.ended").first)
            #expect(end.text("reason") == "timer" && end.text("at") == begin.text("endsAt"))
            #expect(try #require(end.integer("programTimeMs")) == #require(begin.integer("programTimeMs")) + 120_000)
            #expect(try await room.state().member("program", "scene")?.string == "solo")
            #expect(room.events.all("program.scene").map { $0.text("scene") } == ["pk", "solo"])
            try await room.end()
        }

        @Test(
            "countdown, PK and punishment start automatically, each at the end of the one before"
        )
        func phases() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pk = """
                "pk": { "scene": "pk", "start": "whenReady", "countdownMs": 1000, "durationMs": 2000, "punishMs": 1500,
                  "punishScene": "guest", "endScene": "solo" },
                """
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path, members: pk))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.run(until: "pk.ended", within: 6)
            try await room.run(seconds: 0.2)
            let told = ["pk.countdown", "pk.started", "pk.punish", "pk.ended"].flatMap { room.events.all($0) }
            let dates = told.compactMap { $0.text("at").flatMap { ProgramDate.parse($0) } }
            #expect(zip(dates, dates.dropFirst()).map { ($1 - $0) / 1_000_000 } == [1_000, 2_000, 1_500])
            #expect(told.dropLast().map { $0.text("endsAt") } == told.dropFirst().map { $0.text("at") })
            #expect(room.events.all("pk.ready").count == 1 && told.last?.text("reason") == "timer")
            #expect(room.events.all("program.scene").map { $0.text("scene") } == ["pk", "guest", "solo"])
            try await room.command(.post, "/v1/pk:punish", status: 409)
            // The durations of a request apply only to the PK that it starts.
            let again = try await room.command(.post, "/v1/pk:start", #"{"countdownMs":0,"durationMs":60000}"#)
            #expect(again.member("phase")?.string == "pk" && again.member("remainingMs")?.integer == 60_000)
            try await room.run(seconds: 0.2)
            #expect(try await room.state().member("program", "scene")?.string == "pk")
            try await room.end()
        }

        @Test("a source that is back within its grace period does not affect the PK; a longer loss ends it")
        func grace() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pk = #""pk": { "scene": "pk", "durationMs": 120000, "endScene": "solo" },"#
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, members: pk, fps: 5, grace: 10_000))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.command(.post, "/v1/pk:start")
            try await room.run(seconds: 1)
            try await room.drop(HarnessRooms.second)
            try await room.run(seconds: 9.9)
            try await room.goLive(HarnessRooms.second)
            try await room.run(seconds: 3)
            #expect(room.events.all("source.lost_final").isEmpty && room.events.all("pk.ended").isEmpty)

            let mark = room.events.count
            try await room.drop(HarnessRooms.second)
            let final = try await room.run(until: "source.lost_final", from: mark, within: 11)
            let waiting = try #require(room.events.all("source.reconnecting", from: mark).first)
            #expect(
                try #require(final.integer("programTimeMs")) == #require(waiting.integer("programTimeMs")) + 10_000)
            let end = try await room.run(until: "pk.ended", from: mark)
            #expect(end.text("reason") == "sourceLost" && end.text("uid") == HarnessRooms.second)
            try await room.run(seconds: 0.4)
            try await room.goLive(HarnessRooms.second)
            #expect(
                try await room.state().member("program", "scene")?.string == "solo",
                "it is live, and in no scene until a command shows it")
            try await room.command(.put, "/v1/program", #"{"scene":"pk"}"#)
            try await room.run(seconds: 0.2)
            #expect(try await room.state().member("program", "scene")?.string == "pk")
            try await room.end()
        }
    }
}
