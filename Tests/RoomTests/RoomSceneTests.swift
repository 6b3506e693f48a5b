import Foundation
import HLS
import MediaTypes
import PipelineSpec
import TestSupport
import Testing

extension InProcess {
    @Suite("Scenes by command: replies have a tick, and frames show the scene from that tick on")
    struct SceneTests {
        private static let swapped = """
            "panes": [ { "uid": "2002", "x": 0, "width": "50%", "height": "100%" },
                       { "uid": "1001", "x": "50%", "width": "50%", "height": "100%" } ]
            """
        private static let decorated = """
            { "panes": [ { "uid": "1001", "width": "50%", "height": "100%" },
                         { "uid": "2002", "x": "50%", "width": "50%", "height": "100%" } ],
              "texts": [ { "textId": "name", "text": "ANNA", "x": 150, "y": 4, "size": 8, "align": "right" } ],
              "scoreBars": [ { "scoreId": "score", "x": 0, "y": 82, "width": "100%", "height": 8 } ],
              "countdowns": [ { "countdownId": "clock", "seconds": 60, "x": 4, "y": 4, "size": 8 } ] }
            """

        /// The paths of the errors in a refusal.
        private static func paths(_ reply: RoomHarness.Reply) -> [String] {
            guard case .array(let errors)? = reply.member("errors")?.content else { return [] }
            return errors.compactMap { $0[key: "path"]?.string }
        }

        /// A room with a raw output, both of whose sources are live.
        private static func live(_ directory: RoomDirectory) async throws -> RoomHarness {
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, outputs: HarnessRooms.raw(directory.path)))
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.run(seconds: 0.5)
            return room
        }

        @Test(
            "a scheduled, a replaced and a decorated scene are each on air from the tick in the reply; older revisions are refused"
        )
        func documents() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await Self.live(directory)
            let start = try #require(room.events.all("program.started").first)
            let zero = try #require(start.text("origin").flatMap { ProgramDate.parse($0) })
            func date(_ tick: Int64) -> String { ProgramDate.format(zero + tick * RoomHarness.second / 10) }

            // Scheduled two seconds ahead.
            let now = try await room.tick()
            let scheduled = try await room.command(
                .put, "/v1/program", #"{"sceneId":"pk","at":"\#(date(now + 20))"}"#)
            let first = try #require(scheduled.member("tick")?.integer)
            #expect(first == now + 20 && scheduled.member("programTimeMs")?.integer == first * 100)
            let applies = try #require(scheduled.member("appliesAt")?.string.flatMap { ProgramDate.parse($0) })
            #expect(abs(applies - zero - first * RoomHarness.second / 10) <= 1_000_000, "\(scheduled.body)")
            for wrong in [date(now - 10), date(now + 900), "tomorrow"] {
                let refused = try await room.command(
                    .put, "/v1/program", #"{"sceneId":"solo","at":"\#(wrong)"}"#, status: 422)
                #expect(Self.paths(refused) == ["at"], "\(refused.body)")
            }
            try await room.run(seconds: 2.5)

            // A newer document of the scene on air; an older one and an invalid one change nothing.
            let newer = try await room.command(.put, "/v1/scenes/pk", #"{ "revision": 5, \#(Self.swapped) }"#)
            let second = try #require(newer.member("tick")?.integer)
            #expect(newer.member("changed")?.content == .boolean(true))
            let again = try await room.command(.put, "/v1/scenes/pk", #"{ "revision": 5, \#(Self.swapped) }"#)
            #expect(again.member("changed")?.content == .boolean(false) && again.member("revision")?.integer == 5)
            let older = try await room.command(
                .put, "/v1/scenes/pk", #"{ "revision": 4, "layout": "auto" }"#, status: 409)
            #expect(older.member("code")?.string == "superseded" && older.member("nertcCode")?.integer == 1301)
            let wrong = try await room.command(
                .put, "/v1/scenes/pk", #"{ "revision": 6, "layout": "sideBySide", "uids": ["1001", "9"] }"#,
                status: 422)
            #expect(wrong.member("code")?.string == "invalidLayout" && Self.paths(wrong) == ["uids[1]"])
            let missing = try await room.command(
                .put, "/v1/scenes/pk",
                #"{ "layout": "auto", "images": [ { "path": "gone.png", "width": 8, "height": 8 } ] }"#, status: 403)
            #expect(missing.member("code")?.string == "authDenied" && Self.paths(missing) == ["images[0].path"])
            try await room.run(seconds: 1)

            // A new, decorated scene, which cannot be removed while it is on air.
            let added = try await room.command(.put, "/v1/scenes/deco", Self.decorated)
            #expect(added.member("changed")?.content == .boolean(true) && added.member("tick") == nil)
            let third = try #require(
                try await room.command(.put, "/v1/program", #"{"scene":"deco"}"#).member("tick")?.integer)
            try await room.command(.put, "/v1/texts/name", #"{"text":"안녕"}"#)
            try await room.command(.put, "/v1/scores/score", #"{"left":30,"right":10}"#)
            try await room.command(.put, "/v1/countdowns/clock", #"{"seconds":5}"#)
            try await room.command(.put, "/v1/texts/nmae", #"{"text":"x"}"#, status: 404)
            try await room.command(.delete, "/v1/scenes/deco", "", status: 409)
            try await room.run(seconds: 1)
            let fourth = try #require(
                try await room.command(.put, "/v1/program", #"{"scene":"solo"}"#).member("tick")?.integer)
            try await room.run(seconds: 0.5)
            try await room.command(.delete, "/v1/scenes/deco", "")
            try await room.end()

            let frames = try CanvasFrames(directory, firstTick: try #require(start.integer("firstTick")))
            let plan: [(ticks: Range<Int64>, view: CanvasFrames.View)] = [
                (now..<first, .dark), (first..<second, .darkLeftLightRight), (second..<third, .lightLeftDarkRight),
                (third..<fourth, .darkLeftLightRight), (fourth..<frames.ticks.upperBound, .dark),
            ]
            for (ticks, view) in plan {
                let wrong = ticks.filter { frames.view($0) != view }
                #expect(wrong.isEmpty && !ticks.isEmpty, "not \(view) in \(ticks): \(wrong)")
            }
        }

        @Test("with scene changes at random times, every frame shows the scene of the last reply whose tick is reached")
        func switches() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await Self.live(directory)
            var random = TestRandom(seed: 3)
            var plan: [(tick: Int64, view: CanvasFrames.View)] = []
            for index in 0..<30 {
                let isPK = index.isMultiple(of: 2)
                let reply = try await room.command(
                    .put, "/v1/program", #"{"scene":"\#(isPK ? "pk" : "solo")"}"#)
                plan.append((try #require(reply.member("tick")?.integer), isPK ? .darkLeftLightRight : .dark))
                try await room.run(seconds: Double.random(in: 0.04...0.56, using: &random))
            }
            try await room.run(seconds: 0.5)
            #expect(try await room.state().member("ticks", "lost")?.integer == 0)
            try await room.end()
            let start = try #require(room.events.all("program.started").first?.integer("firstTick"))
            let frames = try CanvasFrames(directory, firstTick: start)
            let wrong = (plan[0].tick..<frames.ticks.upperBound).filter { tick in
                frames.view(tick) != plan.last { $0.tick <= tick }?.view
            }
            #expect(wrong.isEmpty, "frames that are not as planned: \(wrong)")
            #expect(room.publishedTicks == Int64(frames.count), "each frame is in a segment")
            #expect(try !directory.playlist("90p.m3u8").text.contains("#EXT-X-DISCONTINUITY\n"))
            directory.lint()
        }

        @Test(
            "as a second source comes and goes, an auto layout changes at the tick in scene.layout, and the first source plays on",
            arguments: [(1_500, 200), (0, 1_000)])
        func headCount(graceMs: Int, bufferMs: Int) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(
                HarnessRooms.duel(
                    directory.path, source: #", "jitterBufferMs": \#(bufferMs)"#, grace: graceMs,
                    outputs: HarnessRooms.raw(directory.path)
                ).replacingOccurrences(of: #""layout": "solo", "uids": ["1001"]"#, with: #""layout": "auto""#))
            try await room.goLive(HarnessRooms.first)
            try await room.run(seconds: 1)
            var mark = room.events.count
            try await room.goLive(HarnessRooms.second)
            // Automatic scenes are composed on a separate queue, in real time.
            let joined = try await room.told("scene.layout", from: mark) { $0.texts("live") == ["1001", "2002"] }
            try await room.run(seconds: 3)
            let dropped = try await room.tick()
            mark = room.events.count
            try await room.drop(HarnessRooms.second)
            let left = try await room.run(until: "scene.layout", from: mark, within: 8) {
                $0.texts("live") == ["1001"]
            }
            try await room.run(seconds: 1)
            try await room.end()

            let start = try #require(room.events.all("program.started").first?.integer("firstTick"))
            let frames = try CanvasFrames(directory, firstTick: start)
            let (both, one) = (try #require(joined.integer("tick")), try #require(left.integer("tick")))
            #expect(frames.goesOn(at: both, intoLeftHalf: true), "1001 continues in its pane at \(both)")
            #expect(frames.goesOn(at: one, intoLeftHalf: false), "1001 continues alone at \(one)")
            #expect(frames.views(both - 5..<both).allSatisfy { $0 == .dark })
            // Media from the second source is shown after its jitter buffer.
            #expect(frames.views(both + 15..<dropped).allSatisfy { $0 == .darkLeftLightRight })
            #expect(frames.views(one..<frames.ticks.upperBound).allSatisfy { $0 == .dark })
        }
    }
}
