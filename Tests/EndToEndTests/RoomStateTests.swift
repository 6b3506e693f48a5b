import Foundation
import Glibc
import Testing

extension Unhurried.Doors {
    @Suite("A room's states, as everybody hears of them")
    struct RoomStateTests {
        private static let members = """
            "control": { "compat": ["flipflop", "nertc", "agora", "remon"] }, "idle": { "maxIdleSeconds": 10 },
            "alarms": { "windowMs": 2000, "clearAfterMs": 0 },
            """

        private static func word(_ event: Event, _ vocabulary: String, _ name: String) -> String? {
            let words = event.object("compat")[vocabulary] as? [String: Any]
            return words?[name].map { "\($0)" }
        }

        @Test("waiting, preparing, live, recovering, live again, and over when nobody comes back")
        func way() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out"), members: Self.members))
            func state(_ word: String, from start: Int = 0) throws -> Event {
                try room.event("room.state", from: start) { $0.text("to") == word }
            }
            let waiting = try state("waiting")
            #expect(waiting.text("from") == "starting" && Self.word(waiting, "remon", "state") == "WAIT")
            let first = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            #expect(try Self.word(state("preparing"), "remon", "state") == "CONNECT")
            #expect(try Self.word(room.event("source.publishing"), "flipflop", "streamKey") == "ACTIVE_PREP")
            #expect(try Self.word(room.event("source.live"), "flipflop", "streamKey") == "ACTIVE")
            let live = try state("live")
            #expect(Self.word(live, "flipflop", "streamKey") == "ACTIVE_LIVE")
            #expect(Self.word(live, "flipflop", "videoRoom") == "LIVE" && Self.word(live, "agora", "state") == "2")
            try self.expect(room, "live", cause: nil)

            let left = room.now
            first.stop()
            let recovering = try state("recovering", from: left)
            #expect(recovering.text("cause") == "media" && Self.word(recovering, "agora", "name") == "RECOVERING")
            #expect(Self.word(recovering, "flipflop", "videoRoom") == "LIVE_INACTIVE")
            #expect(Self.word(recovering, "nertc", "state") == "505")
            try self.expect(room, "recovering", cause: "media")
            let alarm = try room.event("alarm.set", uid: "1001", from: left)
            #expect(alarm.object("alarm")["type"] as? String == "source.lost")

            let second = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            let back = try state("live", from: left)
            #expect(Self.word(back, "flipflop", "broadcast") == "active" && Self.word(back, "agora", "state") == "2")
            let resumed = try room.event("ingest.publishing", from: left)
            #expect(Self.word(resumed, "flipflop", "streamKey") == "ACTIVE_LIVE_PREP")
            try room.event("alarm.cleared", from: left) { $0.text("id") == alarm.text("id") }
            second.stop()

            #expect(try room.over(timeout: 35) == 0)
            for type in ["room.ending", "room.closed"] {
                #expect(room.events(type).map { $0.text("code") } == ["idleTimeout"], "\(type)")
            }
            #expect(
                room.events.last?.type == "room.closed" && room.events("room.closed").first?.text("outcome") == "ended")
            #expect(room.child.errors.contains("\"code\":\"idleTimeout\""), "\(room.child.errors.suffix(500))")
            #expect(try Playlist(contentsOf: work.path("out/180p.m3u8")).isEnded)
            let (set, cleared) = (room.events("alarm.set"), room.events("alarm.cleared"))
            #expect(Set(set.map { $0.text("id") }) == Set(cleared.map { $0.text("id") }), "none outlives its worker")
            let states = room.events("room.state")
            for (before, after) in zip(states, states.dropFirst()) {
                #expect(before.text("to") == after.text("from"), "each begins where the one before ended")
            }
            #expect(states.last?.text("to") == "closed")
        }

        @Test("a program that is over by itself: its room is ending, as one that was told to")
        func duration() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")), ["--duration", "4"])
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            let ending = try room.event("room.ending")
            #expect(ending.text("reason") == "the program is over" && ending.text("code") == nil)
            #expect(try room.over(timeout: 30) == 0)
            publisher.stop()
            #expect(room.events("room.state").suffix(2).map { $0.text("to") } == ["ending", "closed"])
            #expect(room.events("room.closed").map { $0.text("outcome") } == ["ended"])
            #expect(try Playlist(contentsOf: work.path("out/180p.m3u8")).isEnded)
        }

        private func expect(_ room: RunningRoom, _ word: String, cause: String?) throws {
            let state = try room.state()
            #expect(state["state"] as? String == word && state["cause"] as? String == cause)
            let metrics = try HTTPClient.request("GET", room.control, "/metrics").body
            #expect(metrics.contains("tandem_state{state=\"\(word)\"} 1"))
        }

        @Test("a port that somebody else has: the room has failed, and says so to those who listen")
        func failed() throws {
            let work = try WorkDirectory()
            try LoopbackAddress.withTakenPort { port in
                let result = try Command.tandem(
                    ["run", "-", "--set", "ingest.rtmp.listen=127.0.0.1:\(port)"],
                    input: Rooms.small(work.path("out"), members: Self.members), timeout: 20)
                #expect(result.code == 69 && result.errors.contains("bindFailed"), "\(result.errors)")
                let events = result.output.split(separator: "\n").compactMap { Event(String($0)) }
                let failed = try #require(events.first { $0.type == "room.state" })
                #expect(failed.text("from") == "starting" && failed.text("to") == "failed")
                #expect(failed.text("code") == "bindFailed" && Self.word(failed, "agora", "name") == "FAILURE")
                #expect(events.last.flatMap { Self.word($0, "remon", "error") } == "InitFailed")
            }
        }
    }
}
