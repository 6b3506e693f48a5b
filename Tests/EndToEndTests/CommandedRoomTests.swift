import Foundation
import Glibc
import Testing

extension Unhurried.Records {
    @Suite("A successor restores the state that commands have set")
    struct CommandedRoomTests {
        private static let pk = #""pk": { "scene": "pk", "durationMs": 120000, "endScene": "solo" }, "#

        /// Two sources; texts, scores and a countdown in the PK scene.
        private static func room(_ directory: String, members: String = Self.pk) -> String {
            Rooms.small(directory, members: members).replacingOccurrences(
                of: #"{ "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"] }"#,
                with: #"""
                    { "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"],
                      "texts": [{ "textId": "left", "text": "a", "x": 8, "y": 8, "size": 16 }],
                      "scoreBars": [{ "scoreId": "pk", "x": 0, "y": 40, "width": "100%", "height": 16 }],
                      "countdowns": [{ "countdownId": "clock", "seconds": 60, "x": 8, "y": 64, "size": 16 }] }
                    """#)
        }

        /// The same room with a third source in the PK scene. The grace is longer than the test, so that a kick does
        /// not end the PK.
        private static func roomOfThree(_ directory: String) -> String {
            Self.room(directory).replacingOccurrences(
                of: #""streamKey": "b", "volume": 100 }"#,
                with: #""streamKey": "b", "volume": 100 }, { "uid": "4004", "streamKey": "c" }"#
            ).replacingOccurrences(
                of: #""listen": "127.0.0.1:0" } },"#,
                with: #""listen": "127.0.0.1:0", "reconnectGraceMs": 120000 } },"#
            ).replacingOccurrences(
                of: #""sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"],"#,
                with: #"""
                    "sceneId": "pk", "panes": [
                        { "uid": "1001", "x": 0, "y": 0, "width": 106, "height": 180 },
                        { "uid": "2002", "x": 106, "y": 0, "width": 106, "height": 180 },
                        { "uid": "4004", "x": 212, "y": 0, "width": 106, "height": 180 }],
                    """#)
        }

        @discardableResult
        private static func command(
            _ room: RunningRoom, _ method: String, _ path: String, _ body: String = "{}", _ status: Int = 200
        ) throws -> [String: Any] {
            let reply = try HTTPClient.request(method, room.control, path, body: body)
            #expect(reply.status == status, "\(method) \(path): \(reply.body)")
            #expect(!reply.body.contains(#""durable":false"#), "\(path): the disk of this machine is slow")
            return reply.json()
        }

        private static func source(_ room: RunningRoom, _ uid: String) throws -> [String: Any] {
            let sources = try room.state()["sources"] as? [[String: Any]] ?? []
            return try #require(sources.first { $0["uid"] as? String == uid }, "\(uid)")
        }

        private static func publish(_ room: RunningRoom, _ key: String) throws -> Publisher {
            try Publisher.pattern("ANNA", to: room.url(key), size: "320x180")
        }

        private static func publishAll(_ room: RunningRoom, _ media: Media) throws -> [Publisher] {
            try ColoredPublisher.all.map { try $0.publish(to: room, media) }
        }

        /// Number of the next frame the program composes: commands answered before apply to it.
        private static func tick(_ room: RunningRoom) throws -> Int {
            try #require((try room.state()["program"] as? [String: Any])?["tick"] as? Int)
        }

        /// Program ticks at which commands were answered and the successor's publisher was live.
        private struct Moments {
            var covered: Int
            var kicked: Int
            var back = Int.max
        }

        /// Decodes everything that viewers got from both workers. From the commands on, no frame shows the covered
        /// opponent or the kicked publisher, and neither is heard. Before the commands both are found, and so is the
        /// remaining publisher in the successor.
        private static func expectHidden(_ directory: String, _ moments: Moments, _ media: Media) throws {
            let output = try ColoredOutput(directory, media)
            let back = Double(moments.back) / 30
            for (publisher, moment) in [
                (ColoredPublisher.guest, moments.covered), (ColoredPublisher.third, moments.kicked),
            ] {
                let told = Double(moment) / 30
                let before = output.shows(publisher, to: told)
                let after = output.faults(HiddenSpan(publisher: publisher, start: told))
                let loud = try #require(before.amplitude, "no audio before")
                let quiet = try #require(after.amplitude, "no audio after")
                let name = "\(publisher.color.rawValue), \(publisher.hertz) Hz"
                EndToEnd.report(
                    "\(name): \(before.frames) frames before the command, \(after.frames.count) after it; "
                        + String(format: "amplitude %.4f and %.4f", loud, quiet))
                #expect(before.frames >= 10, "the test finds \(publisher.color.rawValue) while it is shown")
                #expect(loud >= 0.03, "the test finds \(publisher.hertz) Hz while it is heard")
                #expect(
                    after.frames.isEmpty, "\(name) is shown at \(after.frames.prefix(20)) s, hidden since \(told) s")
                #expect(quiet <= 0.003, "\(name) is heard after \(told) s")
            }
            let shown = output.shows(.host, from: back)
            #expect(shown.frames >= 30, "the successor shows the publisher that no command hides")
            #expect(try #require(shown.amplitude) >= 0.02)
            #expect((output.colors.times.last ?? 0) - back >= 1)
        }

        @Test(
            "after a kill or drain the successor restores commanded state, and covered, muted or kicked sources stay hidden",
            arguments: ["kill", "drain"])
        func restored(by means: String) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let first = try RunningRoom(Self.roomOfThree(work.path("out")))
            let publishers = try Self.publishAll(first, media)
            for uid in ["1001", "2002", "4004"] { try first.event("source.live", uid: uid) }
            // A source whose key is in no file.
            let key = first.key("third-stream-key")
            try Self.command(
                first, "PATCH", "/v1/room",
                #"{"room":{"title":"Commanded"},"revision":8,"sources":[{"uid":"1001","streamKey":"\#(first.key("a"))"},"#
                    + #"{"uid":"2002","streamKey":"\#(first.key("b"))"},{"uid":"3003","streamKey":"\#(key)"},"#
                    + #"{"uid":"4004","streamKey":"\#(first.key("c"))"}]}"#)
            try Self.command(first, "POST", "/v1/pk:start")
            try first.event("program.scene") { $0.text("scene") == "pk" }
            // All three are seen and heard.
            try first.segments(1, countsShort: true)
            try Self.command(first, "PUT", "/v1/sources/2002", #"{"videoPush":false,"audioPush":false}"#)
            let covered = try Self.tick(first)
            try Self.command(first, "POST", "/v1/sources/4004:kick", #"{"refuseSeconds":300}"#)
            var moments = Moments(covered: covered, kicked: try Self.tick(first))
            try Self.command(first, "POST", "/v1/sources/3003:kick", #"{"refuseSeconds":300}"#)
            try Self.command(first, "PUT", "/v1/scenes/late", #"{"layout":"solo","uids":["2002"],"revision":5}"#)
            try Self.command(first, "PUT", "/v1/sources/1001", #"{"volume":40}"#)
            try Self.command(first, "PUT", "/v1/scores/pk", #"{"left":900,"right":100}"#)
            try Self.command(first, "PUT", "/v1/texts/left", #"{"text":"Anna"}"#)
            try Self.command(first, "PUT", "/v1/countdowns/clock", #"{"seconds":100}"#)
            try Self.command(
                first, "PUT", "/v1/sources/1001/relays/r1",
                #"{"url":"rtmp://127.0.0.1:9/live/\#(first.key("relay-stream-key"))"}"#)
            // Scores and texts are written within 100 ms.
            Thread.sleep(forTimeInterval: 0.3)
            let before = try first.state()
            let end = (before["pk"] as? [String: Any])?["endsAt"] as? String
            #expect(try first.terminate(means == "kill" ? SIGKILL : SIGTERM) == (means == "kill" ? 137 : 143))
            for publisher in publishers { publisher.stop(SIGKILL) }
            let path = work.path("out/commands.json")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!text.contains(key) && !text.contains(first.key("a")), "stream keys are hashes")
            var facts = stat()
            #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)

            let second = try RunningRoom(Self.roomOfThree(work.path("out")))
            let resumed = try second.event("room.resumed")
            EndToEnd.report("restored: \(resumed.line)")
            #expect(resumed.line.contains(#""notRestored":[]"#), "\(resumed.line)")
            // The kicked publisher is refused.
            let again = try Self.publishAll(second, media)
            try second.event("ingest.refused")
            for uid in ["1001", "2002"] { try second.event("source.live", uid: uid) }
            let state = try second.state()
            moments.back = try Self.tick(second)
            let back = second.now
            #expect(state["title"] as? String == "Commanded")
            #expect(try #require(state["revision"] as? Int) >= #require(before["revision"] as? Int))
            #expect((state["program"] as? [String: Any])?["scene"] as? String == "pk")
            let pk = try #require(state["pk"] as? [String: Any])
            #expect(pk["phase"] as? String == "pk" && pk["endsAt"] as? String == end, "\(pk)")
            let guest = try Self.source(second, "2002")
            #expect(guest["videoPush"] as? Bool == false && guest["audioPush"] as? Bool == false)
            #expect(try Self.source(second, "1001")["volume"] as? Int == 40)
            let relays = try Self.source(second, "1001")["relays"] as? [[String: Any]]
            #expect(relays?.map { $0["id"] as? String } == ["r1"])
            // The reply has both sides; the left one is unchanged.
            #expect(try Self.command(second, "PUT", "/v1/scores/pk", #"{"right":101}"#)["left"] as? Int == 900)
            // A revision older than the accepted one is refused, as before.
            try Self.command(second, "PATCH", "/v1/room", #"{"room":{"title":"Old"},"revision":8}"#, 409)
            try Self.command(second, "PUT", "/v1/scenes/late", #"{"layout":"solo","uids":["1001"],"revision":4}"#, 409)
            // The kick holds, and a key that is in no file is valid after it.
            let mark = second.now
            let kicked = try Self.publish(second, "third-stream-key")
            try second.event("ingest.refused", from: mark)
            kicked.stop(SIGKILL)
            try Self.command(second, "POST", "/v1/sources/3003:kick", #"{"refuseSeconds":0}"#)
            let third = try Self.publish(second, "third-stream-key")
            try second.event("source.live", uid: "3003")
            if let viewer = second.viewer {
                for name in ["commands.json", ".commands.json.1.tmp", "commands.json.aside"] {
                    #expect(try HTTPClient.request("GET", viewer, "/\(name)").status == 404)
                }
            }
            // More than one whole segment with the returned publisher.
            var segments = 0
            try second.event("segment.published", from: back) { _ in
                segments += 1
                return segments == 2
            }
            #expect(second.events("source.live").allSatisfy { $0.text("uid") != "4004" })
            #expect(try second.end() == 0)
            #expect(!FileManager.default.fileExists(atPath: path), "no state of an ended room is restored")
            for publisher in again + [third] { publisher.stop(SIGKILL) }
            try Self.expectHidden(work.path("out"), moments, media)
        }
    }
}
