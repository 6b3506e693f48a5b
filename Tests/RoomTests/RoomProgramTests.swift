import HLS
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Program time and scene switches")
    struct ProgramTests {
        @Test("at 10 fps ten seconds are 100 ticks, none late or lost, and segments are published")
        func ticks() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first)
            // Before its first tick is due the program reports tick 0, too.
            try await room.run(seconds: 1)
            let before = try #require(try await room.state().member("program", "tick")?.integer)
            try await room.run(seconds: 10)
            let state = try await room.state()
            #expect(state.member("program", "tick")?.integer == before + 100)
            #expect(state.member("ticks", "late")?.integer == 0 && state.member("ticks", "lost")?.integer == 0)
            #expect(room.events.all("encoder.overload_step").isEmpty)
            try await offPool { try room.events.wait("segment.published") }
            guard case .ended = try await room.end() else {
                Issue.record("the room has not ended as requested")
                return
            }
            #expect(room.events.types().last == "room.closed")
            #expect(try directory.text(of: "90p.m3u8").contains("#EXT-X-ENDLIST"))
        }

        @Test(
            "a scene scheduled for a date is on air from exactly its tick; a date in the past or too far ahead is refused"
        )
        func scheduled() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            let origin = try #require(room.events.all("program.started").first?.text("origin"))
            let zero = try #require(ProgramDate.parse(origin))
            let now = try #require(try await room.state().member("program", "tick")?.integer)
            func date(_ tick: Int64) -> String { ProgramDate.format(zero + tick * RoomHarness.second / 10) }
            func put(_ tick: Int64, status: Int) async throws -> RoomHarness.Reply {
                try await room.command(
                    .put, "/v1/program", #"{"sceneId":"pk","at":"\#(date(tick))"}"#, status: status)
            }
            #expect(try await put(now + 20, status: 200).member("tick")?.integer == now + 20)
            for wrong in [now - 10, now + 700] { _ = try await put(wrong, status: 422) }
            var shown: [Int64] = []
            for _ in 0..<25 {
                try await room.run(seconds: 0.1)
                let state = try await room.state()
                let tick = try #require(state.member("program", "tick")?.integer)
                if state.member("program", "scene")?.string == "pk" { shown.append(tick) }
            }
            #expect(shown.first == now + 20 && shown.count == 6, "\(shown)")
            try await room.end()
        }

        @Test(
            "after the hold time of a lost source its pane leaves the scene, or a fallback scene is on air, until the source returns",
            arguments: ["leavePane", "fallbackScene"])
        func absence(then: String) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let fallback = then == "fallbackScene" ? #", "fallbackScene": "solo""# : ""
            let room = try await RoomHarness.open(
                HarnessRooms.duel(
                    directory.path, source: #", "onLost": { "holdMs": 500, "then": "\#(then)"\#(fallback) }"#))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.command(.put, "/v1/program", #"{"sceneId":"pk"}"#)
            try await room.run(seconds: 0.5)
            let mark = room.events.count
            try await room.drop(HarnessRooms.second)
            let change = try await room.run(until: "program.scene", from: mark)
            let lost = try #require(room.events.all("source.lost", uid: HarnessRooms.second, from: mark).first)
            let held = try #require(change.integer("programTimeMs")) - #require(lost.integer("programTimeMs"))
            #expect((500...900).contains(held), "held for \(held) ms")
            #expect(change.text("scene") == (then == "leavePane" ? "pk" : "solo"))
            #expect(change.line.contains(#""without":["2002"]"#) == (then == "leavePane"))
            let back = room.events.count
            try await room.goLive(HarnessRooms.second)
            let restored = try await room.run(until: "program.scene", from: back)
            #expect(restored.text("scene") == "pk" && restored.line.contains(#""without":[]"#))
            try await room.end()
        }
    }
}
