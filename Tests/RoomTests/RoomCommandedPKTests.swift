import HLS
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("PK started by command with its own scenes and lengths")
    struct CommandedPKTests {
        /// Both sources are live.
        private static func live(_ directory: RoomDirectory, _ members: String = "") async throws -> RoomHarness {
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path, members: members, fps: 5))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            return room
        }

        /// Milliseconds between the `at` times of two events.
        private static func milliseconds(_ one: ToldEvent?, _ other: ToldEvent?) throws -> Int64 {
            let dates = try [one, other].map { event in
                try #require(event?.text("at").flatMap { ProgramDate.parse($0) }, "\(String(describing: event))")
            }
            return (dates[1] - dates[0]) / 1_000_000
        }

        @Test(
            "a room without `pk` in its pipeline runs two PKs by command, one after the other, each with its own length and scene"
        )
        func bareRoom() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await Self.live(directory)
            #expect(try await room.state().member("pk")?.content == .null)
            try await room.command(.post, "/v1/pk:start", #"{"durationMs":3000}"#, status: 404)
            try await room.command(.post, "/v1/pk:end", status: 404)
            let first = try await room.command(.post, "/v1/pk:start", #"{"scene":"pk","durationMs":3000}"#)
            #expect(first.member("phase")?.string == "pk" && first.member("remainingMs")?.integer == 3_000)
            #expect(first.member("scene")?.string == "pk" && first.member("endScene")?.string == "solo")
            #expect(first.member("punishScene")?.string == "pk" && first.member("countdownScene")?.content == .null)
            try await room.command(.post, "/v1/pk:start", #"{"scene":"pk"}"#, status: 409)
            let end = try await room.run(until: "pk.ended", within: 4)
            #expect(try Self.milliseconds(room.events.all("pk.started").first, end) == 3_000)
            try await room.run(seconds: 0.4)

            let mark = room.events.count
            let body = #"{"scene":"guest","countdownScene":"pk","endScene":"pk","countdownMs":1000,"durationMs":2000}"#
            let second = try await room.command(.post, "/v1/pk:start", body)
            #expect(second.member("phase")?.string == "countdown" && second.member("scene")?.string == "guest")
            let last = try await room.run(until: "pk.ended", from: mark, within: 4)
            let started = room.events.all("pk.started", from: mark).first
            #expect(try Self.milliseconds(room.events.all("pk.countdown", from: mark).first, started) == 1_000)
            #expect(try Self.milliseconds(started, last) == 2_000)
            try await room.run(seconds: 0.4)
            #expect(room.events.all("program.scene").map { $0.text("scene") } == ["pk", "solo", "pk", "guest", "pk"])
            let state = try await room.state()
            #expect(state.member("pk", "phase")?.string == "idle" && state.member("pk", "scene")?.string == "guest")
            try await room.end()
            let marks = try directory.text(of: "90p.m3u8").split(separator: "\n").filter {
                $0.contains(#"CLASS="live.tandem.pk""#)
            }
            for scene in ["pk", "guest"] {
                #expect(marks.contains { $0.contains(#"X-TANDEM-SCENE="\#(scene)""#) }, "\(marks)")
            }
        }

        @Test("pk:start with an unknown scene is refused, and the error names the member and the known scenes")
        func unknownScene() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await Self.live(directory, #""pk": { "scene": "pk" },"#)
            for member in ["scene", "countdownScene", "punishScene", "endScene"] {
                let refused = try await room.command(.post, "/v1/pk:start", #"{"\#(member)":"nobody"}"#, status: 422)
                let fix = refused.member("fix")?.string ?? ""
                #expect(fix.contains("solo, guest, pk"), "\(refused.body)")
                #expect(refused.member("detail")?.string?.contains("\(member): ") == true, "\(refused.body)")
            }
            #expect(try await room.state().member("pk", "phase")?.string == "idle")
            try await room.end()
        }

        @Test(
            "PATCH adds a PK, which starts automatically; while it runs its end time stays and it cannot be removed, afterwards it can"
        )
        func patched() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await Self.live(directory)
            try await room.command(
                .patch, "/v1/room",
                #"{"pk":{"scene":"pk","start":"whenReady","durationMs":2000,"endScene":"guest"}}"#)
            let started = try await room.run(until: "pk.started", within: 1)
            #expect(room.events.all("pk.ready").count == 1)
            for path in ["/v1/room?dryRun=true", "/v1/room"] {
                let refused = try await room.command(.patch, path, #"{"pk":null}"#, status: 409)
                #expect(refused.member("fix")?.string?.contains("/v1/pk:end") == true, "\(refused.body)")
            }
            try await room.command(.patch, "/v1/room", #"{"pk":{"durationMs":60000,"endScene":"solo"}}"#)
            let ended = try await room.run(until: "pk.ended", within: 3)
            #expect(try Self.milliseconds(started, ended) == 2_000)
            try await room.run(seconds: 0.4)
            #expect(room.events.all("program.scene").map { $0.text("scene") } == ["pk", "solo"])
            let again = try await room.command(.post, "/v1/pk:start")
            #expect(again.member("remainingMs")?.integer == 60_000)
            try await room.command(.post, "/v1/pk:end")
            try await room.command(.patch, "/v1/room", #"{"pk":null}"#)
            #expect(try await room.state().member("pk")?.content == .null)
            #expect(room.events.all("room.changed").count == 3)
            try await room.end()
        }

        @Test("scenes of a running PK cannot be removed until it has ended")
        func neededScenes() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await Self.live(directory)
            try await room.command(
                .post, "/v1/pk:start", #"{"scene":"pk","endScene":"guest","countdownMs":60000}"#)
            for scene in ["pk", "guest"] {
                let refused = try await room.command(.delete, "/v1/scenes/\(scene)", status: 409)
                #expect(refused.body.contains("running PK"), "\(refused.body)")
            }
            let without = #"{"scenes":[{"sceneId":"solo","layout":"solo","uids":["1001"]}]}"#
            let refused = try await room.command(.patch, "/v1/room", without, status: 409)
            #expect(refused.body.contains("running PK"), "\(refused.body)")
            try await room.command(.post, "/v1/pk:end")
            try await room.command(.put, "/v1/program", #"{"sceneId":"solo"}"#)
            try await room.run(seconds: 0.4)
            try await room.command(.delete, "/v1/scenes/guest")
            try await room.command(.patch, "/v1/room", without)
            #expect(try await room.state().member("pk", "phase")?.string == "idle")
            try await room.end()
        }
    }
}
