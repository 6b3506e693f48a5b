import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Relays between rooms with a worker each, and a source pulled over RTMP")
    struct RelayTests {
        /// A room whose own host is on the left: its publisher has the key `own`, the other room's host arrives as
        /// `far`.
        private static func room(_ directory: String, own: String, far: String) -> String {
            """
            {
              "room": { "roomId": "room-\(own)" },
              "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
              "sources": [
                { "uid": "\(own)", "streamKey": "own" },
                { "uid": "\(far)", "streamKey": "far_9f31c2" }
              ],
              "canvas": { "width": 1280, "height": 720 },
              "scenes": [{ "sceneId": "pk", "layout": "sideBySide", "uids": ["\(own)", "\(far)"] }],
              "renditions": \(Rooms.large),
              "outputs": [{ "type": "hls", "path": "\(directory)", "windowSeconds": 600, "http": { "listen": "127.0.0.1:0" } }]
            }
            """
        }

        private static func source(_ uid: String, in room: RunningRoom) throws -> [String: Any] {
            let sources = try room.state()["sources"] as? [[String: Any]] ?? []
            return try #require(sources.first { $0["uid"] as? String == uid })
        }

        @Test(
            "two rooms relay their hosts to each other within 1 s; if one worker is killed, the other room loses only that pane"
        )
        func crossRoomPK() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let one = try RunningRoom(Self.room(work.path("one"), own: "anna", far: "ben"))
            let two = try RunningRoom(Self.room(work.path("two"), own: "ben", far: "anna"))
            let anna = try Publisher.pattern("ANNA", to: one.url("own"))
            let ben = try Publisher.pattern("BEN", to: two.url("own"))
            try one.event("source.live", uid: "anna")
            try two.event("source.live", uid: "ben")
            // In mid-GOP: the next key frame of the pattern is up to two seconds away.
            try one.event("segment.published")
            for (near, far, uid) in [(one, two, "anna"), (two, one, "ben")] {
                let asked = Date().timeIntervalSince1970
                let reply = try HTTPClient.request(
                    "PUT", near.control, "/v1/sources/\(uid)/relays/pk",
                    body: #"{"url":"\#(far.rtmp)/live/far_9f31c2"}"#)
                #expect(reply.status == 200, "\(reply.body)")
                #expect(!reply.body.contains("9f31c2"), "\(reply.body)")
                let live = try far.event("source.live", uid: uid)
                EndToEnd.report(
                    "first far picture of \(uid) \(Int((live.time - asked) * 1000)) ms after the relay was asked for (bar: 1000)"
                )
                expectTiming(live.time - asked, atMost: 1, "seconds until the far frame is on air")
                #expect(try near.event("relay.live", uid: uid).text("url")?.hasSuffix("/live/far…") == true)
            }
            let relays = try Self.source("anna", in: one)["relays"] as? [[String: Any]]
            #expect(relays?.first?["state"] as? String == "live")
            #expect((relays?.first?["bytes"] as? Int ?? 0) > 10_000)
            try one.segments(3)

            let start = one.now
            let killed = Date().timeIntervalSince1970
            #expect(try two.terminate(SIGKILL) == 128 + SIGKILL)
            let lost = try one.event("source.lost", uid: "ben", from: start)
            expectTiming(lost.time - killed, atMost: 1, "seconds from the death of a worker to source.lost")
            try one.event("relay.failed", uid: "anna", from: start, timeout: 5)
            try one.segments(2)
            let ticks = try one.state()["ticks"] as? [String: Any]
            expectOnTime(ticks ?? [:], isLateAllowed: true)
            #expect(try Self.source("anna", in: one)["state"] as? String == "live")
            for (method, status) in [("DELETE", 200), ("DELETE", 404)] {
                #expect(try HTTPClient.request(method, one.control, "/v1/sources/anna/relays/pk").status == status)
            }
            try one.event("relay.stopped", uid: "anna", from: start)
            #expect(try one.end() == 0)
            for publisher in [anna, ben] { publisher.stop() }

            #expect(!one.child.outputLines.joined().contains("9f31c2"), "the key is in no event")
            #expect(try media.complaints(work.path("one/index.m3u8")) == "")
            // The last segments of the own pane, across the loss of the other one, and both rooms' panes before.
            let decoded = try Decoded(work.path("one/720p.m3u8"), [.left, .right], media)
            let (steps, good) = decoded.steps(0, from: 1)
            expectTiming(good, atLeast: steps - steps / 50, "steps of \(steps) in which the own counter advances")
            let both = decoded.panes[1].count { $0.counter != nil }
            EndToEnd.report("own pane \(good) of \(steps) steps by one; the far anchor in \(both) pictures")
            #expect(both >= 90, "the remote host is on the right")
            // The killed room's playlist has no end, and a player would wait for more.
            let left = try Files.text(work.path("two/720p.m3u8"))
            _ = try work.write(left + "#EXT-X-ENDLIST\n", to: "two/720p.m3u8")
            let other = try Decoded(work.path("two/720p.m3u8"), [.left, .right], media)
            #expect(
                other.panes[0].count { $0.counter != nil } >= 90 && other.panes[1].count { $0.counter != nil } >= 60)
        }

        /// Starts a room for the opponent, which relays to a second room, whose PK has a fallback scene.
        private static func pkRooms(_ work: WorkDirectory, graceMs: Int) throws -> (far: RunningRoom, near: RunningRoom)
        {
            let grace = #""listen": "127.0.0.1:0", "reconnectGraceMs": \#(graceMs) } },"#
            let far = try RunningRoom(
                Rooms.small(work.path("far")).replacingOccurrences(of: #""listen": "127.0.0.1:0" } },"#, with: grace))
            let pk = #""pk": { "scene": "pk", "start": "whenReady", "durationMs": 0, "endScene": "solo" }, "#
            let near = try RunningRoom(
                Rooms.small(work.path("near"), members: pk)
                    .replacingOccurrences(of: #""listen": "127.0.0.1:0" } },"#, with: grace)
                    .replacingOccurrences(
                        of: #""streamKey": "b","#,
                        with: #""streamKey": "b", "onLost": { "then": "fallbackScene", "fallbackScene": "solo" },"#))
            let reply = try HTTPClient.request(
                "PUT", far.control, "/v1/sources/1001/relays/pk", body: #"{"url":"\#(near.url("b"))"}"#)
            #expect(reply.status == 200, "\(reply.body)")
            return (far, near)
        }

        @Test(
            "if the opponent's publisher is killed or suspended, a solo scene is on air within 1.5 s; the PK ends after the grace period"
        )
        func opponentDies() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
            let grace = 3.0
            let (far, near) = try Self.pkRooms(work, graceMs: Int(grace * 1000))
            func publish(_ room: RunningRoom) throws -> Publisher {
                try Publisher(EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url("a"), "--loop"])
            }
            let anchor = try publish(near)
            var opponent = try publish(far)
            try near.event("pk.started", timeout: 10)
            for signal in [SIGKILL, SIGSTOP] {
                let mark = near.now
                let died = Date().timeIntervalSince1970
                opponent.child.signal(signal)
                let fallback = try near.event("program.scene", from: mark) { $0.text("scene") == "solo" }
                let ended = try near.event("pk.ended", from: mark, timeout: grace + 12)
                EndToEnd.report(
                    String(
                        format:
                            "the opponent %@: fallback after %.3f s (bar: 1.5), the PK ends after %.3f s (grace %.0f)",
                        signal == SIGKILL ? "dies" : "freezes", fallback.time - died, ended.time - died, grace))
                expectTiming(fallback.time - died, atMost: 1.5, "seconds until the fallback")
                #expect(ended.text("reason") == "sourceLost")
                expectTiming(ended.time - died, in: grace - 0.7...grace + 0.7, "seconds until the PK ends")
                guard signal == SIGKILL else { break }
                // The relay reconnects when the publisher returns.
                let back = near.now
                opponent = try publish(far)
                try near.event("source.live", uid: "2002", from: back, timeout: 5)
                #expect(try HTTPClient.request("POST", near.control, "/v1/pk:start", body: "{}").status == 200)
                try near.event("program.scene", from: back) { $0.text("scene") == "pk" }
                try near.segments(1)
            }
            for room in [near, far] { #expect(try room.end() == 0) }
            for publisher in [anchor, opponent] { publisher.stop(SIGKILL) }
        }

        @Test(
            "a source is pulled from an RTMP server, and again after the stream ended; one not in allowedHosts is refused"
        )
        func pull() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4, bFrames: 2)
            let port = try LoopbackAddress.withTakenPort { $0 }
            let pipeline = Rooms.small(
                work.path("out")
            ).replacingOccurrences(
                of: #""streamKey": "b""#, with: #""type": "rtmp-pull", "url": "rtmp://127.0.0.1:\#(port)/live/clip""#)
            let refused = try Command.tandem(["validate", "-"], input: pipeline)
            #expect(refused.code == 65 && refused.errors.contains("ingest.pull.allowedHosts"), "\(refused.errors)")
            let allowed = pipeline.replacingOccurrences(
                of: #""ingest": {"#, with: #""ingest": { "pull": { "allowedHosts": ["127.0.0.1:\#(port)"] },"#)
            let room = try RunningRoom(allowed)
            try room.event("pull.failed", uid: "2002", timeout: 5)
            for round in 1...2 {
                let start = room.now
                let server = try Publisher(
                    media.ffmpeg,
                    [
                        "-nostdin", "-loglevel", "error", "-re", "-i", work.path("clip.mp4"), "-c", "copy", "-f", "flv",
                        "-listen", "1", "rtmp://127.0.0.1:\(port)/live/clip",
                    ])
                try room.event("source.live", uid: "2002", from: start, timeout: 10)
                if round == 2 { try room.event("segment.published", from: start) }
                server.stop()
                try room.event("source.lost", uid: "2002", from: start, timeout: 5)
            }
            #expect(try room.end() == 0)
            #expect(try media.complaints(work.path("out/index.m3u8")) == "")
        }
    }
}
