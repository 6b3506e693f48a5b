import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Sources added to and removed from a live room")
    struct GuestTests {
        private static let guest = "3003"
        private static let trio = #"""
            { "sceneId": "trio", "layout": "grid", "uids": ["1001", "2002", "3003"], "transition": { "type": "cut" } }
            """#
        private static let pk = #"{ "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"] }"#
        private static let tones = [HarnessRooms.first: 400, HarnessRooms.second: 700, Self.guest: 1_100]

        private static func source(_ uid: String) -> String {
            #"{ "uid": "\#(uid)", "streamKey": "\#(HarnessRooms.key(of: uid))" }"#
        }

        private static func document(_ uids: [String], scenes: [String], program: String) -> String {
            let sources = uids.map { Self.source($0) }
            return #"""
                { "sources": [\#(sources.joined(separator: ", "))], "scenes": [\#(scenes.joined(separator: ", "))],
                  "program": { "scene": "\#(program)" } }
                """#
        }

        private static func path(ofFirstMistake reply: RoomHarness.Reply) -> String? {
            guard case .array(let errors)? = reply.member("errors")?.content else { return nil }
            return errors.first?[key: "path"]?.string
        }

        @Test(
            "a guest added by PATCH to a live room of two publishers is seen and heard, and removed by PATCH; no tick is late or lost"
        )
        func guest() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(
                HarnessRooms.duel(directory.path, scene: "pk", outputs: HarnessRooms.raw(directory.path)))
            let (first, second, third) = (HarnessRooms.first, HarnessRooms.second, Self.guest)
            for (uid, appearance) in [(first, ScriptedClip.Appearance.dark), (second, .light)] {
                try await room.goLive(uid, sending: appearance, tones: [0: try #require(Self.tones[uid])])
            }
            await #expect(throws: ScriptedPublisher.Refused.self, "nobody knows the guest yet") {
                try await room.connect(third)
            }
            try await room.run(seconds: 0.5)
            let begin = try await room.tick()
            try await room.run(seconds: 2)

            // A document with only a scene of absent sources changes nothing.
            let unknown = try await room.command(
                .patch, "/v1/room", #"{ "scenes": [\#(Self.pk), \#(Self.trio)] }"#, status: 422)
            #expect(Self.path(ofFirstMistake: unknown) == "scenes[1].uids[2]", "\(unknown.body)")
            let sources = [
                Self.source(first), Self.source(second), #"{ "uid": "9", "type": "file", "path": "x.mp4" }"#,
            ]
            let file = try await room.command(
                .patch, "/v1/room", #"{ "sources": [\#(sources.joined(separator: ", "))] }"#, status: 403)
            #expect(Self.path(ofFirstMistake: file) == "sources[2].path", "requests may not name any file")

            let joined = try await room.command(
                .patch, "/v1/room",
                Self.document([first, second, third], scenes: [Self.pk, Self.trio], program: "trio"))
            #expect(joined.member("changed")?.content == .boolean(true))
            #expect(joined.body.contains(#""sources""#), "\(joined.body)")
            #expect(room.events.all("source.added", uid: third).count == 1)
            let wide = try #require(joined.member("tick")?.integer)
            try await room.run(seconds: 1)
            try await room.goLive(third, sending: .bright, tones: [0: try #require(Self.tones[third])])
            let shown = try await room.tick()
            try await room.run(seconds: 4)
            let state = try await room.state()
            #expect(state.element("sources", "uid", third)?[key: "state"]?.string == "live")
            #expect(try #require(state.element("sources", "uid", third)?[key: "shown"]?.integer) > 30)
            let metrics = try await room.command(.get, "/metrics").body
            #expect(metrics.contains(#"tandem_source_packets_total{uid="3003""#))
            #expect(try await room.command(.get, "/v1/stats").body.contains(#""uid":"3003""#))
            #expect(try await !room.command(.get, "/v1/sources/3003/snapshot").body.isEmpty)
            #expect(try await !room.command(.get, "/v1/sources/3003/still.jpg?width=64").body.isEmpty)

            // A scene made by a command keeps its guest in the room.
            try await room.command(.put, "/v1/scenes/mine", #"{ "layout": "solo", "uids": ["3003"] }"#)
            // The two remaining sources swap positions in the list.
            let alone = Self.document([second, first], scenes: [Self.pk], program: "pk")
            let kept = try await room.command(.patch, "/v1/room", alone, status: 409)
            #expect(kept.member("detail")?.string?.contains("\"mine\"") == true, "\(kept.body)")
            try await room.command(.delete, "/v1/scenes/mine", "")
            let left = try #require(
                try await room.command(.patch, "/v1/room", alone).member("tick")?.integer)
            // Once no scene shows it and its audio has faded, its connection is closed.
            try await room.run(seconds: 1)
            let removed = try await room.told("source.removed") { $0.member("uid")?.string == "3003" }
            try await room.told("ingest.lost") { $0.member("uid")?.string == "3003" }
            #expect(room.events.all("ingest.lost", uid: third).count == 1)
            #expect(removed.member("wasPublishing")?.content == .boolean(true))
            await #expect(throws: ScriptedPublisher.Refused.self) { try await room.connect(third) }
            // As a label value: another number may contain these digits.
            #expect(try await !room.command(.get, "/metrics").body.contains(#""3003""#))
            #expect(try await !room.command(.get, "/v1/stats").body.contains(#""3003""#))
            try await room.command(.get, "/v1/sources/3003", status: 404)
            try await room.run(seconds: 3)
            let end = try await room.state()
            guard case .array(let rest)? = end.member("sources")?.content else { return }
            #expect(rest.map { $0[key: "uid"]?.string } == [second, first])
            #expect(end.member("ticks", "late")?.integer == 0 && end.member("ticks", "lost")?.integer == 0)
            #expect(room.events.all("source.lost").isEmpty && room.events.all("source.stalled").isEmpty)
            let over = try await room.tick()
            try await room.end()

            try Self.judgeFrames(room, directory, from: begin, wide: wide, shown: shown, left: left)
            let start = try #require(room.events.all("program.started").first?.integer("firstTick"))
            let seconds = [begin, shown, left, over].map { Double($0 - start) / 10 }
            try await Self.judgeAudio(directory, from: seconds[0], joined: seconds[1], left: seconds[2], to: seconds[3])
            let playlist = try directory.playlist("90p.m3u8")
            #expect(
                playlist.isEnded && playlist.maps.count == 1 && playlist.segments.allSatisfy { !$0.isDiscontinuity })
            directory.lint()
        }

        /// Checks which sources each frame shows.
        ///
        /// - Parameters:
        ///   - begin: Tick from which both are live.
        ///   - wide: Tick from which the scene of three is on air.
        ///   - shown: Tick from which the guest is live.
        ///   - left: Tick from which the scene of two is on air again.
        private static func judgeFrames(
            _ room: RoomHarness, _ directory: RoomDirectory, from begin: Int64, wide: Int64, shown: Int64, left: Int64
        ) throws {
            let started = try #require(room.events.all("program.started").first?.integer("firstTick"))
            let frames = try CanvasFrames(directory, firstTick: started)
            func isNear(_ tick: Int64, _ x: Int, _ y: Int, _ appearance: ScriptedClip.Appearance) -> Bool {
                abs(Int(frames.luma(tick, x, y)) - Int(appearance.background)) <= 18
            }
            try #require(begin < wide && wide < shown && shown < left && left < frames.ticks.upperBound)
            var wrong = ((begin..<wide).map { $0 } + (left..<frames.ticks.upperBound).map { $0 }).filter {
                // Below the moving square and below what the first scene draws over its panes.
                frames.view($0) != .darkLeftLightRight
            }
            #expect(wrong.isEmpty, "not the two: \(wrong)")
            wrong = (wide..<left).filter { !isNear($0, 20, 38, .dark) || !isNear($0, 140, 38, .light) }
            #expect(wrong.isEmpty, "not the two above the guest: \(wrong)")
            wrong = (shown + 2..<left).filter { !isNear($0, 80, 83, .bright) }
            #expect(wrong.isEmpty, "no card, and no gap: \(wrong)")
        }

        /// Checks that the tones of the two are heard all the time, and the guest's while the guest is in the room.
        ///
        /// - Parameters:
        ///   - begin: Seconds of the program at which both are live.
        ///   - joined: When the guest is live.
        ///   - left: When the guest is removed.
        ///   - end: When the room is asked to end.
        private static func judgeAudio(
            _ directory: RoomDirectory, from begin: Double, joined: Double, left: Double, to end: Double
        ) async throws {
            let audio = try await PublishedAudio(directory)
            try #require(end < audio.duration + 0.5)
            for (uid, hertz) in Self.tones {
                let level = audio.level(hertz)
                func values(_ start: Double, _ end: Double) -> ArraySlice<Double> {
                    // Half a second on each side is not checked.
                    let rate = Double(PublishedAudio.rate)
                    return level[Int((start + 0.5) * rate)..<Int((end - 0.5) * rate)]
                }
                let isGuest = uid == Self.guest
                let heard = isGuest ? values(joined, left) : values(begin, end)
                #expect(heard.allSatisfy { $0 > 0.05 }, "\(hertz) Hz: \(heard.min() ?? 0)")
                guard isGuest else { continue }
                for silent in [values(begin, joined), values(left, end)] {
                    #expect(silent.allSatisfy { $0 < 0.02 }, "\(hertz) Hz: \(silent.max() ?? 0)")
                }
            }
        }
    }
}
