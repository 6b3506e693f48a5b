import MediaTypes
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("Kicks, takeovers, reconnects, and a room without publishers")
    struct AccessTests {
        @Test("after a kick with refuseSeconds 300 the publisher is refused at 299 s and admitted at 301 s")
        func kick() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path, fps: 5))
            try await room.goLive(HarnessRooms.first)
            let mark = room.events.count
            let reply = try await room.command(.post, "/v1/sources/1001:kick", #"{"refuseSeconds":300}"#)
            #expect(reply.member("wasPublishing")?.content == .boolean(true))
            #expect(reply.member("refused", "reason")?.string == "kicked")
            #expect(room.events.all("source.kicked", uid: HarnessRooms.first).first?.integer("refuseSeconds") == 300)
            #expect(room.events.all("source.kicked", uid: HarnessRooms.first, from: mark).count == 1)
            #expect(room.events.all("ingest.lost", uid: HarnessRooms.first, from: mark).count == 1)
            try await room.run(seconds: 299)
            await #expect(throws: ScriptedPublisher.Refused.self) { try await room.connect(HarnessRooms.first) }
            #expect(room.events.all("ingest.refused", from: mark).count == 1)
            try await room.run(seconds: 2)
            try await room.goLive(HarnessRooms.first)
            let source = try await room.command(.get, "/v1/sources/1001")
            #expect(source.member("refused")?.content == .null)
            try await room.end()
        }

        @Test("after its kick is lifted a source is admitted at once; a kick of an unknown source gets 404")
        func lifted() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first)
            try await room.command(.post, "/v1/sources/1001:kick", #"{"refuseSeconds":600}"#)
            await #expect(throws: ScriptedPublisher.Refused.self) { try await room.connect(HarnessRooms.first) }
            let reply = try await room.command(.post, "/v1/sources/1001:kick", #"{"refuseSeconds":0}"#)
            #expect(reply.member("refused")?.content == .null)
            try await room.goLive(HarnessRooms.first)
            try await room.command(.post, "/v1/sources/9:kick", status: 404)
            let sub = try await room.command(
                .post, "/v1/sources/1001:kick?streamType=sub", #"{"refuseSeconds":0}"#, status: 404)
            #expect(sub.body.contains("1001 (sub)"), "\(sub.body)")
            try await room.end()
        }

        /// The events of a takeover, in order.
        private static let takeover = [
            "ingest.lost", "ingest.publishing", "source.reconnecting", "source.first_frame", "source.live",
        ]

        @Test(
            "the third takeover of a source within seconds is refused with ingest.flapping, and the current publisher stays live"
        )
        func flapping() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            for round in 0..<3 {
                let mark = room.events.count
                try await room.goLive(HarnessRooms.first)
                guard round > 0 else { continue }
                let told = room.events.types(from: mark).filter { Self.takeover.contains($0) }
                #expect(told == Self.takeover, "round \(round)")
            }
            let mark = room.events.count
            await #expect(throws: ScriptedPublisher.Refused.self) { try await room.connect(HarnessRooms.first) }
            #expect(room.events.all("ingest.flapping", uid: HarnessRooms.first, from: mark).count == 1)
            // The current publisher stays.
            try await room.run(seconds: 2)
            #expect(try await room.command(.get, "/v1/sources/1001").member("state")?.string == "live")
            #expect(room.events.all("source.lost").isEmpty)
            try await room.end()
        }

        @Test(
            "a publisher that connects while its old connection is silent takes over and is live within 1 s, without source.lost"
        )
        func halfOpen() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first)
            room.silence(HarnessRooms.first)
            try await room.run(until: "source.stalled", uid: HarnessRooms.first)
            let mark = room.events.count
            try await room.goLive(HarnessRooms.first)
            let publishing = try #require(
                room.events.all("ingest.publishing", uid: HarnessRooms.first, from: mark).first)
            let live = try #require(room.events.all("source.live", uid: HarnessRooms.first, from: mark).first)
            #expect(
                try #require(live.integer("programTimeMs")) - #require(publishing.integer("programTimeMs")) <= 1_000)
            let taken = room.events.all("source.reconnecting", uid: HarnessRooms.first, from: mark)
            #expect(taken.count == 1 && taken.first?.text("graceUntil") == nil, "the new publisher is connected")
            #expect(room.events.all("source.lost").isEmpty)
            try await room.end()
        }

        @Test("a room to which no publisher connects ends with idleTimeout after waitForFirstSourceSeconds")
        func nobodyCame() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, members: #""idle": { "waitForFirstSourceSeconds": 3 },"#))
            try await room.run(seconds: 2.9)
            #expect(room.events.all("room.ending").isEmpty)
            let ending = try await room.run(until: "room.ending", within: 0.5)
            #expect(ending.text("code") == "idleTimeout")
            guard case .ended = try await room.finish() else {
                Issue.record("the room has not ended")
                return
            }
            #expect(room.events.all("room.closed").map { $0.text("code") } == ["idleTimeout"])
        }

        @Test(
            "the first frame of each of nine publishers that return is decoded within 1 s of its key frame, and each is live again"
        )
        func nine() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let uids = (1...9).map { "\($0)" }
            let sources = uids.map { #"{ "uid": "\#($0)", "streamKey": "\#(HarnessRooms.key(of: $0))" }"# }
            let names = uids.map { "\"\($0)\"" }.joined(separator: ", ")
            let pipeline = """
                {
                  "room": { "roomId": "nine" }, "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                  "sources": [\(sources.joined(separator: ", "))],
                  "canvas": { "width": 480, "height": 270, "fps": 10 },
                  "scenes": [{ "sceneId": "all", "layout": "grid", "uids": [\(names)] }],
                  "renditions": [{ "name": "90p", "width": 160, "height": 90,
                    "video": { "bitrate": 100000, "preset": "ultrafast" } }],
                  "outputs": [
                    { "type": "hls", "path": "\(directory.path)", "lowLatency": false, "http": { "listen": null } }
                  ]
                }
                """
            let room = try await RoomHarness.open(pipeline)
            for uid in uids { try await room.connect(uid) }
            for uid in uids { try await room.run(until: "source.live", uid: uid) }
            try await room.run(seconds: 1)
            let mark = room.events.count
            for uid in uids { try await room.drop(uid) }
            for uid in uids { try await room.run(until: "source.lost", uid: uid, from: mark, within: 2) }
            let again = room.events.count
            for uid in uids { try await room.connect(uid) }
            for uid in uids {
                let frame = try await room.run(until: "source.first_frame", uid: uid, from: again, within: 2)
                #expect(try #require(frame.integer("sinceKeyFrameMs")) <= 1_000)
                try await room.run(until: "source.live", uid: uid, from: again)
            }
            try await room.end()
        }
    }
}
