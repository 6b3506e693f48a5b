import HTTPTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("While a scene is slow to build, the room does everything else")
    struct SlowSceneTests {
        @Test(
            "while a scene is being built, state and scenes can be read, covers and kicks work, and a lost source is reported"
        )
        func others() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(
                HarnessRooms.duel(
                    directory.path, source: #", "onLost": { "holdMs": 500, "then": "leavePane" }"#))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.command(
                .put, "/v1/scenes/late", #"{"layout":"sideBySide","uids":["2002","1001"],"revision":1}"#)
            let gate = try await room.blockBuilder()
            let late = try await offPool { try room.begin(.put, "/v1/program", #"{"sceneId":"late"}"#) }
            let mark = room.events.count
            let seen = try await offPool { () throws -> [Int] in
                var seen: [Int] = []
                for (method, path, body) in [
                    (HTTPRequest.Method.get, "/v1/room", ""), (.get, "/v1/scenes", ""),
                    (.put, "/v1/sources/2002", #"{"videoPush":false}"#), (.post, "/v1/sources/1001:kick", "{}"),
                ] {
                    seen.append(try room.begin(method, path, body).wait().status)
                }
                try room.events.wait("source.lost", from: mark)
                return seen
            }
            #expect(seen == [200, 200, 200, 200])
            #expect(late.reply == nil, "the scene was built too early: nothing was observed during the build")
            gate.signal()
            let answer = try await offPool { try late.wait() }
            #expect(answer.status == 200, "\(answer.body)")
            try await room.run(seconds: 0.3)
            #expect(try await room.state().member("program", "scene")?.string == "late")
            try await room.end()
        }

        @Test("a scene not built in time is refused with 422, and the scene on air and the revision stay")
        func refused() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.command(.put, "/v1/scenes/late", #"{"layout":"sideBySide","uids":["2002","1001"]}"#)
            let before = try await room.state().member("revision")?.integer
            let gate = try await room.blockBuilder()
            try await room.command(.put, "/v1/program", #"{"sceneId":"late"}"#, status: 422)
            gate.signal()
            let state = try await room.state()
            #expect(state.member("program", "scene")?.string == "solo" && state.member("revision")?.integer == before)
            try await room.command(.put, "/v1/program", #"{"sceneId":"pk"}"#)
            #expect(try await room.state().member("program", "scene")?.string == "pk")
            try await room.end()
        }
    }
}
