import Foundation
import MediaTypes
import PipelineSpec
import Room
import TestSupport
import Testing

extension InProcess {
    @Suite("A successor on the directory of a killed worker")
    struct SuccessorTests {
        private static func pk(_ milliseconds: Int) -> String {
            #""pk": { "scene": "pk", "durationMs": \#(milliseconds), "endScene": "guest" },"#
        }

        /// Both sources are live, and a segment is published.
        private static func live(_ pipeline: String) async throws -> RoomHarness {
            let room = try await RoomHarness.open(pipeline)
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.run(seconds: 3)
            try await offPool { try room.events.wait("segment.published") }
            return room
        }

        /// Opens the successor some seconds after the worker before was killed.
        private static func successor(
            of room: RoomHarness, _ pipeline: String, after seconds: Int64, _ beginning: RoomHarness.Beginning = .slate
        ) async throws -> RoomHarness {
            room.kill()
            return try await RoomHarness.open(pipeline, at: room.wall.now() + seconds * RoomHarness.second, beginning)
        }

        @Test("a successor restores scene, PK with its end, cover, mute, volume, text, score, kick, title and revision")
        func restored() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            // The PK waits for the kicked source until it ends.
            let pipeline = HarnessRooms.duel(directory.path, members: Self.pk(20_000), grace: 60_000)
            let first = try await Self.live(pipeline)
            try await first.command(.patch, "/v1/room", #"{"room":{"title":"Commanded"},"revision":8}"#)
            try await first.command(.post, "/v1/pk:start")
            try await first.command(.put, "/v1/sources/2002", #"{"videoPush":false,"audioPush":false}"#)
            try await first.command(.put, "/v1/sources/1001", #"{"volume":40}"#)
            try await first.command(.put, "/v1/texts/left", #"{"text":"Anna"}"#)
            try await first.command(.put, "/v1/scores/pk", #"{"left":900,"right":100}"#)
            try await first.command(.post, "/v1/sources/2002:kick", #"{"refuseSeconds":300}"#)
            // Volumes, texts and scores are written within 100 ms.
            try await first.run(seconds: 2)
            let before = try await first.state()
            let end = try #require(before.member("pk", "endsAt")?.string)

            let second = try await Self.successor(of: first, pipeline, after: 3)
            let resumed = try #require(second.events.all("room.resumed").first)
            #expect(resumed.line.contains(#""notRestored":[]"#), "\(resumed)")
            let state = try await second.state()
            #expect(state.member("title")?.string == "Commanded")
            #expect(try #require(state.member("revision")?.integer) >= #require(before.member("revision")?.integer))
            #expect(state.member("program", "scene")?.string == "pk")
            #expect(state.member("pk", "phase")?.string == "pk" && state.member("pk", "endsAt")?.string == end)
            let guest = try #require(state.element("sources", "uid", "2002"))
            #expect(guest[key: "videoPush"]?.content == .boolean(false))
            #expect(guest[key: "audioPush"]?.content == .boolean(false))
            #expect(guest[key: "refused"]?[key: "reason"]?.string == "kicked")
            #expect(state.element("sources", "uid", "1001")?[key: "volume"]?.integer == 40)
            // The reply has both sides; the left one is unchanged.
            let score = try await second.command(.put, "/v1/scores/pk", #"{"right":101}"#)
            #expect(score.member("left")?.integer == 900)
            // With a score, the successor writes all texts and scores that its scenes use.
            try await second.run(seconds: 0.5)
            let stored = try await waitUntil("the score is stored", { try directory.text(of: "commands.json") }) {
                $0.contains(#""right":101"#)
            }
            #expect(stored.contains(#""texts":{"left":"Anna"}"#), "\(stored)")
            try await second.command(.patch, "/v1/room", #"{"room":{"title":"Old"},"revision":8}"#, status: 409)
            await #expect(throws: ScriptedPublisher.Refused.self) { try await second.connect(HarnessRooms.second) }
            let over = try await second.run(until: "pk.ended", within: 20)
            #expect(over.text("at") == end)
            try await second.end()
            #expect(throws: (any Error).self) { try directory.text(of: "commands.json") }
        }

        @Test("in a successor, a PK whose end has passed ends by timer, and its end scene is on air")
        func passed() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path, members: Self.pk(2_000))
            let first = try await Self.live(pipeline)
            try await first.command(.post, "/v1/pk:start")
            let second = try await Self.successor(of: first, pipeline, after: 4)
            try await second.run(seconds: 0.3)
            let ended = try #require(second.events.all("pk.ended").first)
            #expect(ended.text("reason") == "timer")
            #expect(second.events.all("pk.ended").count == 1)
            #expect(try await second.state().member("program", "scene")?.string == "guest")
            try await second.end()
        }

        @Test(
            "a successor continues a commanded PK in its commanded scenes, with and without `pk` in the pipeline file",
            arguments: ["", Self.pk(5_000)])
        func commandedPK(members: String) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path, members: members, grace: 60_000)
            let first = try await Self.live(pipeline)
            try await first.command(
                .post, "/v1/pk:start", #"{"scene":"guest","endScene":"pk","durationMs":12000}"#)
            try await first.run(seconds: 1)
            let end = try #require(try await first.state().member("pk", "endsAt")?.string)
            let second = try await Self.successor(of: first, pipeline, after: 3)
            let resumed = try #require(second.events.all("room.resumed").first)
            #expect(resumed.line.contains(#""notRestored":[]"#) && resumed.line.contains(#""pk""#), "\(resumed)")
            let state = try await second.state()
            #expect(state.member("pk", "phase")?.string == "pk" && state.member("pk", "endsAt")?.string == end)
            #expect(state.member("pk", "scene")?.string == "guest" && state.member("pk", "endScene")?.string == "pk")
            #expect(state.member("program", "scene")?.string == "guest")
            let over = try await second.run(until: "pk.ended", within: 12)
            #expect(over.text("at") == end && over.text("reason") == "timer")
            try await second.run(seconds: 0.3)
            #expect(try await second.state().member("program", "scene")?.string == "pk")
            try await second.end()
        }

        @Test("a room that was asked to end, but whose worker was killed before the end, is ended by its successor")
        func ended() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path)
            let first = try await Self.live(pipeline)
            try await first.command(.post, "/v1/room:end", status: 202)
            let second = try await Self.successor(of: first, pipeline, after: 2, .over)
            guard case .ended = try await second.finish() else {
                Issue.record("the room continues")
                return
            }
            #expect(second.events.all("room.closed").map { $0.text("outcome") } == ["ended"])
            #expect(try directory.text(of: "90p.m3u8").contains("#EXT-X-ENDLIST"))
        }

        @Test("a kick of 10 s still refuses the publisher after 9.5 s in a successor, which admits it after 10.5 s")
        func kickHolds() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path)
            let first = try await Self.live(pipeline)
            try await first.command(.post, "/v1/sources/2002:kick", #"{"refuseSeconds":10}"#)
            try await first.run(seconds: 4)
            let second = try await Self.successor(of: first, pipeline, after: 3)
            try await second.run(seconds: 2.5)
            await #expect(throws: ScriptedPublisher.Refused.self) { try await second.connect(HarnessRooms.second) }
            try await second.run(seconds: 1)
            try await second.goLive(HarnessRooms.second)
            try await second.end()
        }

        @Test(
            "a superseded worker answers 503; after two crashes a cover is restored, but not volume and scene; --forget restores nothing"
        )
        func fenced() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = HarnessRooms.duel(directory.path, members: Self.pk(120_000))
            let first = try await RoomHarness.open(pipeline)
            try await first.command(.put, "/v1/sources/2002", #"{"videoPush":false,"volume":30}"#)
            try await first.command(.put, "/v1/program", #"{"sceneId":"pk"}"#)
            let second = try await RoomHarness.open(pipeline, at: first.wall.now())
            #expect(second.events.all("room.resumed").first?.member("reduced")?.content == .boolean(false))
            try await first.command(.put, "/v1/sources/2002", #"{"videoPush":true}"#, status: 503)
            guard case .superseded = try await first.finish() else {
                Issue.record("the first worker has not been superseded")
                return
            }
            func guest(_ room: RoomHarness) async throws -> RoomHarness.Reply {
                try await room.command(.get, "/v1/sources/2002")
            }
            #expect(try await guest(second).member("videoPush")?.content == .boolean(false))
            let third = try await Self.successor(of: second, pipeline, after: 1, .waiting)
            let fourth = try await Self.successor(of: third, pipeline, after: 1, .waiting)
            #expect(fourth.events.all("room.resumed").first?.member("reduced")?.content == .boolean(true))
            try await fourth.run(until: "alarm.set") {
                $0.member("alarm", "type")?.string == "commands.set_aside"
            }
            #expect(try await guest(fourth).member("videoPush")?.content == .boolean(false))
            #expect(try await guest(fourth).member("volume")?.integer == 100)
            #expect(try await fourth.state().member("program", "scene")?.string == "solo")
            #expect(directory.exists("commands.json.aside"))
            fourth.kill()
            let fifth = try await RoomHarness.open(pipeline, at: fourth.wall.now()) { $0.forgets = true }
            #expect(try await guest(fifth).member("videoPush")?.content == .boolean(true))
            #expect(fifth.events.all("room.resumed").isEmpty)
            try await fifth.end()
            #expect(!directory.exists("commands.json.aside"), "it may contain keys")
        }

        @Test(
            "in a successor, a changed pipeline file wins over commands for the members it changes, and undoes no cover"
        )
        func changedFile() async throws {
            let (directory, kept) = (try RoomDirectory(), try RoomDirectory())
            defer { for directory in [directory, kept] { directory.remove() } }
            func pipeline(volume: Int) -> String {
                HarnessRooms.duel(
                    directory.path, members: #""control": { "stateDirectory": "\#(kept.path)/state" },"#,
                    source: #", "volume": \#(volume)"#)
            }
            let first = try await RoomHarness.open(pipeline(volume: 100))
            try await first.command(
                .put, "/v1/sources/2002", #"{"videoPush":false,"volume":30,"rotation":90}"#)
            first.kill()
            #expect(kept.exists("state/harness.commands.json") && !directory.exists("commands.json"))
            let second = try await RoomHarness.open(pipeline(volume: 150), at: first.wall.now())
            let resumed = try #require(second.events.all("room.resumed").first?.line)
            #expect(resumed.contains(#"{"member":"sources[2002/main].volume""#), "\(resumed)")
            #expect(resumed.contains(#""sources[2002].rotation""#), "\(resumed)")
            let guest = try await second.command(.get, "/v1/sources/2002")
            #expect(guest.member("videoPush")?.content == .boolean(false) && guest.member("volume")?.integer == 150)
            try await second.end()
        }

        @Test("a disk that refuses writes delays no kick and no cover, which are stored when it accepts them again")
        func unwritten() async throws {
            let (directory, kept) = (try RoomDirectory(), try RoomDirectory())
            defer { for directory in [directory, kept] { directory.remove() } }
            let pipeline = HarnessRooms.duel(
                directory.path, members: #""control": { "stateDirectory": "\#(kept.path)" },"#)
            let first = try await RoomHarness.open(pipeline)
            // A directory with this name makes file creation fail.
            let obstacle = "\(kept.path)/.harness.commands.json.1.tmp"
            try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
            func expectCovered(_ room: RoomHarness) async throws {
                let guest = try await room.command(.get, "/v1/sources/2002")
                #expect(guest.member("videoPush")?.content == .boolean(false))
                #expect(guest.member("refused", "reason")?.string == "kicked")
            }
            let before = first.clock.now()
            let replies = [
                try await first.command(.put, "/v1/sources/2002", #"{"videoPush":false}"#),
                try await first.command(.post, "/v1/sources/2002:kick", #"{"refuseSeconds":600}"#),
            ]
            #expect(replies.allSatisfy { $0.member("durable")?.content == .boolean(false) })
            #expect(first.clock.now() == before, "both are in force at once")
            try await expectCovered(first)
            #expect(!kept.exists("harness.commands.json"))
            let set = try await first.run(until: "alarm.set", within: 20) {
                $0.member("alarm", "type")?.string == "commands.not_durable"
            }
            try FileManager.default.removeItem(atPath: obstacle)
            try await first.run(until: "alarm.cleared", within: 60) { $0.text("id") == set.text("id") }
            #expect(kept.exists("harness.commands.json"))
            let second = try await Self.successor(of: first, pipeline, after: 1, .waiting)
            try await expectCovered(second)
            try await second.end()
        }
    }
}
