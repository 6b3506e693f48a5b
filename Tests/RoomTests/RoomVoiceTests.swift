import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Rooms without video")
    struct VoiceTests {
        private static let tones = [HarnessRooms.first: 400, HarnessRooms.second: 700]

        private static func pipeline(_ directory: String) -> String {
            """
            {
              "room": { "roomId": "voice" }, "audio": { "speaking": true },
              "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
              "sources": [
                { "uid": "1001", "streamKey": "\(HarnessRooms.key(of: "1001"))" },
                { "uid": "2002", "streamKey": "\(HarnessRooms.key(of: "2002"))" }
              ],
              "canvas": { "width": 160, "height": 90, "fps": 10 },
              "scenes": [
                { "sceneId": "all", "layout": "auto" },
                { "sceneId": "first", "layout": "solo", "uids": ["1001"], "transition": { "type": "crossfade" } }
              ],
              "renditions": [{ "name": "voice", "video": null }],
              "audioRenditions": [{ "name": "hi", "bitrate": 96000 }, { "name": "lo", "bitrate": 48000 }],
              "outputs": [
                { "type": "hls", "path": "\(directory)/out", "lowLatency": false, "http": { "listen": null } },
                { "type": "record", "path": "\(directory)/recording" }
              ]
            }
            """
        }

        @Test(
            "a room without video mixes two publishers, reports who speaks, and writes audio-only playlists and a recording"
        )
        func voices() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let (first, second) = (HarnessRooms.first, HarnessRooms.second)
            let room = try await RoomHarness.open(Self.pipeline(directory.path))
            try await room.goLive(first, sending: .dark, tones: [0: 400])
            let mark = room.events.count
            try await room.connect(second, ScriptedContent(tones: [0: 700]))
            try await room.run(until: "source.live", uid: second, from: mark)
            try await room.run(until: "audio.speaking", uid: second)
            #expect(room.events.all("audio.speaking").map { $0.text("uid") } == [first, second])
            let state = try await room.state()
            for uid in [first, second] {
                let source = state.element("sources", "uid", uid)
                #expect(source?[key: "state"]?.string == "live")
                #expect(source?[key: "speaking"]?.content == .boolean(true))
                #expect(source?[key: "shown"]?.integer == 0)
            }
            let snapshot = try await room.command(.get, "/v1/snapshot", status: 404)
            #expect(snapshot.body.contains("only audio"), "\(snapshot.body)")

            // Another scene leaves out the second voice, which then does not speak in the program.
            try await room.command(.put, "/v1/program", #"{ "sceneId": "first" }"#)
            let silent = try await room.run(until: "audio.speaking", uid: second) {
                $0.member("speaking")?.content == .boolean(false)
            }
            #expect(silent.text("at") != nil)
            try await room.command(.put, "/v1/program", #"{ "sceneId": "all" }"#)
            try await room.run(seconds: 2)
            // The detection is switched off while the room runs.
            let off = room.events.count
            try await room.command(.patch, "/v1/room", #"{ "audio": { "speaking": false } }"#)
            try await room.run(seconds: 1)
            #expect(room.events.all("audio.speaking", from: off).count == 2, "both have stopped")
            let end = try await room.state()
            #expect(end.element("sources", "uid", first)?[key: "speaking"]?.content == .null)
            #expect(end.member("ticks", "late")?.integer == 0 && end.member("ticks", "lost")?.integer == 0)
            try await room.run(seconds: 4)
            try await room.end()
            #expect(room.events.all("source.first_frame").isEmpty)

            let out = RoomDirectory(at: "\(directory.path)/out")
            let index = try out.text(of: "index.m3u8")
            #expect(index.contains("hi.m3u8") && index.contains("lo.m3u8"), "\(index)")
            #expect(!index.contains("RESOLUTION") && !index.contains("EXT-X-MEDIA:"), "\(index)")
            for name in ["hi.m3u8", "lo.m3u8"] {
                let playlist = try out.playlist(name)
                #expect(playlist.isEnded && playlist.maps.count == 1)
                #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity })
            }
            out.lint()
            let audio = try await PublishedAudio(out, "hi.m3u8")
            for hertz in Self.tones.values {
                let levels = audio.level(hertz)
                let loud = levels.count { $0 > 0.1 }
                #expect(loud > levels.count / 3, "\(hertz) Hz in \(loud) of \(levels.count)")
            }
            #expect(directory.exists("recording/hi.mp4"))
        }
    }
}
