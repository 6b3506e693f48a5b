import Foundation
import HLS
import Testing

extension EndToEnd {
    @Suite("Scenes over the control API: they say when, and are on air exactly then")
    struct SceneControlTests {
        private static let swapped = """
            "panes": [ { "uid": "2002", "x": 0, "width": "50%", "height": "100%" },
                       { "uid": "1001", "x": "50%", "width": "50%", "height": "100%" } ]
            """
        private static let decorated = """
            { "panes": [ { "uid": "1001", "width": "50%", "height": "100%" },
                         { "uid": "2002", "x": "50%", "width": "50%", "height": "100%" } ],
              "texts": [ { "textId": "name", "text": "ANNA", "x": 1200, "y": 10, "size": 24, "align": "right" } ],
              "scoreBars": [ { "scoreId": "score", "x": 0, "y": 704, "width": "100%", "height": 16 } ],
              "countdowns": [ { "countdownId": "clock", "seconds": 60, "x": 20, "y": 10 } ] }
            """

        @Test(
            "NetEase 2, NetEase 7, NetEase 11: a scene at a date, a newer document, an older one refused, a decorated one: each at the tick it said"
        )
        func scenes() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.live(directory, renditions: Rooms.large))
            let anna = try Publisher.pattern("ANNA", to: room.url("a"))
            try room.event("source.live", uid: "1001")
            let ben = try Publisher.pattern("BEN", to: room.url("b"))
            try room.event("source.live", uid: "2002")
            let start = try #require(room.events("program.started").first)
            let firstTick = try #require(start.integer("firstTick"))
            let origin = try #require(start.text("origin").flatMap { ProgramDate.parse($0) })
            func date(_ tick: Int) -> String { ProgramDate.format(origin + (Int64(tick) * 1_000_000_000 + 15) / 30) }

            // At a date, two seconds ahead.
            let now = try Self.tick(room)
            let scheduled = try Self.put(
                room, "/v1/program", #"{"sceneId":"pk","at":"\#(date(now + 60))"}"#, 200)
            let first = try #require(scheduled["tick"] as? Int)
            #expect(abs(first - (now + 60)) <= 1, "\(first), asked for \(now + 60)")
            // Events give the origin in whole milliseconds.
            let applies = try #require((scheduled["appliesAt"] as? String).flatMap { ProgramDate.parse($0) })
            let due = try #require(ProgramDate.parse(date(first)))
            #expect(abs(applies - due) <= 2_000_000, "\(scheduled), \(date(first))")
            #expect(scheduled["programTimeMs"] as? Int == (first * 1000 + 15) / 30)
            for wrong in [date(now - 30), date(now + 30 * 90), "tomorrow"] {
                let refusal = try Self.put(room, "/v1/program", #"{"sceneId":"solo","at":"\#(wrong)"}"#, 422)
                #expect(Self.paths(refusal) == ["at"], "\(refusal)")
            }
            try Self.wait(room, until: first + 15)

            // A newer document of the scene on air; an older one, and a wrong one, change nothing.
            let newer = try Self.put(room, "/v1/scenes/pk", #"{ "revision": 5, \#(Self.swapped) }"#, 200)
            let second = try #require(newer["tick"] as? Int)
            #expect(newer["changed"] as? Bool == true)
            let again = try Self.put(room, "/v1/scenes/pk", #"{ "revision": 5, \#(Self.swapped) }"#, 200)
            #expect(again["changed"] as? Bool == false && again["revision"] as? Int == 5)
            let older = try Self.put(room, "/v1/scenes/pk", #"{ "revision": 4, "layout": "auto" }"#, 409)
            #expect(older["code"] as? String == "superseded" && older["nertcCode"] as? Int == 1301)
            let wrong = try Self.put(
                room, "/v1/scenes/pk", #"{ "revision": 6, "layout": "sideBySide", "uids": ["1001", "9"] }"#, 422)
            #expect(wrong["code"] as? String == "invalidLayout" && Self.paths(wrong) == ["uids[1]"])
            let missing = try Self.put(
                room, "/v1/scenes/pk",
                #"{ "layout": "auto", "images": [ { "path": "gone.png", "width": 8, "height": 8 } ] }"#, 403)
            #expect(missing["code"] as? String == "authDenied" && Self.paths(missing) == ["images[0].path"])
            try Self.wait(room, until: second + 15)

            // A new, decorated scene; it cannot be taken away while it is on air.
            let added = try Self.put(room, "/v1/scenes/deco", Self.decorated, 200)
            #expect(added["changed"] as? Bool == true && added["tick"] == nil)
            let third = try #require(try Self.put(room, "/v1/program", #"{"scene":"deco"}"#, 200)["tick"] as? Int)
            _ = try Self.put(room, "/v1/texts/name", #"{"text":"안녕"}"#, 200)
            _ = try Self.put(room, "/v1/scores/score", #"{"left":30,"right":10}"#, 200)
            _ = try Self.put(room, "/v1/countdowns/clock", #"{"seconds":5}"#, 200)
            _ = try Self.put(room, "/v1/texts/nmae", #"{"text":"x"}"#, 404)
            #expect(try HTTPClient.request("DELETE", room.control, "/v1/scenes/deco").status == 409)
            try Self.wait(room, until: third + 20)
            let fourth = try #require(try Self.put(room, "/v1/program", #"{"scene":"solo"}"#, 200)["tick"] as? Int)
            try Self.wait(room, until: fourth + 5)
            #expect(try HTTPClient.request("DELETE", room.control, "/v1/scenes/deco").status == 200)
            try room.segments(1)
            #expect(try room.end() == 0)
            anna.stop()
            ben.stop()

            let decoded = try Decoded("\(directory)/720p.m3u8", [.solo, .left, .right], media)
            func shows(_ pane: Int, _ tick: Int) -> UInt16? {
                let index = tick - firstTick
                return decoded.panes[pane].indices.contains(index) ? decoded.panes[pane][index].counter : nil
            }
            // What lies where a counter would be in another layout may look like one, but not like the next one of ANNA.
            func continues(_ one: UInt16?, _ other: UInt16?) -> Bool {
                guard let one, let other else { return false }
                return (0...2).contains(other &- one)
            }
            #expect(continues(shows(0, first - 2), shows(0, first - 1)), "solo until the date")
            #expect(!continues(shows(0, first - 2), shows(1, first - 1)), "no PK before the date")
            #expect(continues(shows(0, first - 1), shows(1, first)) && shows(2, first) != nil, "PK from the date on")
            let before = (left: try #require(shows(1, second - 1)), right: try #require(shows(2, second - 1)))
            let after = (left: try #require(shows(1, second)), right: try #require(shows(2, second)))
            #expect(before.left > before.right && after.left < after.right, "the panes changed places at \(second)")
            let deco = (left: try #require(shows(1, third)), right: try #require(shows(2, third)))
            #expect(deco.left > deco.right, "the decorated scene at \(third)")
            #expect(continues(shows(1, fourth - 1), shows(0, fourth)), "solo again at \(fourth)")
            #expect(try media.complaints("\(directory)/index.m3u8") == "")
        }

        /// A request, its answer, and that it had this status.
        private static func put(
            _ room: RunningRoom, _ path: String, _ body: String, _ status: Int
        ) throws -> [String: Any] {
            let reply = try HTTPClient.request("PUT", room.control, path, body: body)
            #expect(reply.status == status, "\(path) \(body): \(reply.body)")
            return reply.json()
        }

        private static func paths(_ problem: [String: Any]) -> [String] {
            (problem["errors"] as? [[String: Any]] ?? []).compactMap { $0["path"] as? String }
        }

        private static func tick(_ room: RunningRoom) throws -> Int {
            let program = try room.state()["program"] as? [String: Any]
            return try #require(program?["tick"] as? Int)
        }

        /// Waits until the program has come to a tick.
        private static func wait(_ room: RunningRoom, until tick: Int) throws {
            for _ in 0..<200 {
                if try self.tick(room) >= tick { return }
                usleep(50_000)
            }
            throw Missing("the program did not come to tick \(tick)")
        }
    }
}
