import Foundation
import Testing

extension EndToEnd {
    /// For any tracks and streams of a user each is seen or heard, with its own volume.
    @Suite("Tracks and streams of one user: app and microphone, screen and camera, either without the other")
    struct TrackTests {
        /// Frequency of each tone in hertz, at least a hundred apart.
        private enum Tone {
            static let app = 500, microphone = 700, voiceOver = 900, voice = 1_100, camera = 1_300, screen = 1_500
        }

        private static func file(
            _ work: WorkDirectory, _ media: Media, _ name: String, luma: Int? = nil, hertz: Int? = nil
        ) throws -> String {
            let path = work.path(name)
            var arguments: [String] = []
            if let luma {
                arguments += [
                    "-f", "lavfi", "-i", "color=s=160x90:r=30:d=4,format=yuv420p,geq=lum=\(luma):cb=128:cr=128",
                ]
            }
            if let hertz { arguments += ["-f", "lavfi", "-i", "sine=frequency=\(hertz):sample_rate=48000:d=4"] }
            if luma != nil {
                arguments += ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "0", "-g", "30", "-color_range", "tv"]
            }
            if hertz != nil { arguments += ["-c:a", "aac", "-b:a", "96k", "-ac", "2"] }
            try media.run(arguments + [path])
            return path
        }

        @Test("all combinations work in one room")
        func everything() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let room = try RunningRoom(Self.pipeline(work.path("out")))
            let microphone = try Self.file(work, media, "mic.m4a", hertz: Tone.microphone)
            let voice = try Self.file(work, media, "voice.m4a", hertz: Tone.voice)
            func publish(_ path: String, _ key: String, _ more: [String] = []) throws -> Publisher {
                try Publisher(EndToEnd.binary, ["publish", path, room.url(key), "--loop"] + more)
            }
            let publishers = try [
                publish(
                    Self.file(work, media, "app.mp4", luma: 60, hertz: Tone.app), "app", ["--audio-track", microphone]),
                publish(Self.file(work, media, "game.mp4", luma: 90, hertz: Tone.voiceOver), "game"),
                publish(voice, "voice"),
                publish(Self.file(work, media, "camera.mp4", luma: 120, hertz: Tone.camera), "camera"),
                publish(Self.file(work, media, "screen.mp4", luma: 150, hertz: Tone.screen), "screen"),
                publish(Self.file(work, media, "silent.mp4", luma: 180), "silent"),
            ]
            for source in ["1001", "2002", "2002/sub", "3003", "3003/sub", "4004"] {
                try room.event("source.live") { $0.text("uid") == source }
            }
            try room.segments(2)
            let changed = try HTTPClient.request(
                "PUT", room.control, "/v1/sources/1001", body: #"{ "audioTrack": 1, "volume": 0 }"#)
            let unknown = try HTTPClient.request(
                "PUT", room.control, "/v1/sources/1001", body: #"{ "audioTrack": 9, "volume": 0 }"#)
            #expect(unknown.status == 404 && unknown.body.contains("use one of: 0, 1"), "\(unknown.body)")
            #expect(changed.status == 200, "\(changed.body)")
            let tracks =
                try HTTPClient.request("GET", room.control, "/v1/sources").json()["sources"] as? [[String: Any]]
            let first = tracks?.first?["audioTracks"] as? [[String: Any]] ?? []
            #expect(first.map { $0["track"] as? Int } == [0, 1] && first.map { $0["volume"] as? Int } == [100, 0])
            try room.segments(2)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop(SIGKILL) }
            #expect(room.events("source.undecodable").isEmpty && room.events("source.reanchored").count <= 6)
            try self.expectPictures(work, media)
            try self.expectSounds(work, media)
        }

        private func expectPictures(_ work: WorkDirectory, _ media: Media) throws {
            try media.run([
                "-i", "\(work.path("out"))/180p.m3u8", "-map", "0:v:0", "-vf", "select=eq(n\\,180)", "-frames:v", "1",
                "-pix_fmt", "yuv420p", work.path("last.y4m"),
            ])
            let picture = try #require(RawPicture.read(work.path("last.y4m"), width: 320, height: 180).first)
            let lumas = (0..<5).map { picture.color(32 + 64 * $0, 90)[0] }
            let wanted = [60, 90, 120, 150, 180]
            #expect(zip(lumas, wanted).allSatisfy { abs($0 - $1) <= 4 }, "\(lumas), not \(wanted)")
        }

        /// A second before and a second after the first user's microphone is switched off.
        private func expectSounds(_ work: WorkDirectory, _ media: Media) throws {
            let tones = try Tones("\(work.path("out"))/audio.m3u8", media)
            let names = [
                (Tone.app, "app"), (Tone.microphone, "microphone at 50 %"), (Tone.voiceOver, "game"),
                (Tone.voice, "voice alone"), (Tone.camera, "camera"), (Tone.screen, "screen"),
            ]
            let levels = names.map { tones.level($0.0) }
            // The second with the loudest microphone is one in which it was on, and so were all others.
            let microphone = levels[1]
            let on = Array(stride(from: 0, to: microphone.count - 1_000, by: 100)).last { start in
                microphone[start..<start + 1_000].allSatisfy { $0 > 0.03 }
            }
            let start = try #require(on, "the microphone is heard for a second: \(microphone.max() ?? 0)")
            func median(_ level: [Double], _ from: Int) -> Double { level[from..<from + 1_000].sorted()[500] }
            let text = zip(names, levels).map { String(format: "%@ %.3f", $0.1, median($1, start)) }
            EndToEnd.report("tracks and streams, level of each tone: \(text.joined(separator: ", "))")
            let whole = median(levels[0], start)
            #expect((0.08...0.2).contains(whole), "ffmpeg's sine is an eighth of full scale: \(whole)")
            for (index, level) in levels.enumerated() where index != 1 {
                #expect(abs(median(level, start) / whole - 1) < 0.1, "\(names[index].1)")
            }
            #expect(abs(median(microphone, start) / whole - 0.5) < 0.05, "volume 50 of its track")
            let end = microphone.count - 2_500
            #expect(median(microphone, end) < 0.05 * whole, "volume 0 of its track, by command")
            for (index, level) in levels.enumerated() where index != 1 {
                #expect(abs(median(level, end) / whole - 1) < 0.1, "\(names[index].1) continues")
            }
        }

        /// 1001: app and microphone as two tracks. 2002: as two streams, the second without video and without a pane.
        /// 3003: camera and screen, each with audio. 4004: video only.
        private static func pipeline(_ directory: String) -> String {
            let panes =
                [("1001", "main"), ("2002", "main"), ("3003", "main"), ("3003", "sub"), ("4004", "main")]
                .enumerated().map { index, source in
                    #"{ "uid": "\#(source.0)", "streamType": "\#(source.1)", "x": \#(64 * index), "width": 64, "#
                        + #""height": 180, "adaption": "stretch" }"#
                } + [#"{ "uid": "2002", "streamType": "sub", "width": 64, "height": 36, "zOrder": 9 }"#]
            return """
                {
                  "room": { "roomId": "tracks" }, "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                  "sources": [
                    { "uid": "1001", "streamKey": "app", "audioTracks": [{ "track": 1, "volume": 50 }] },
                    { "uid": "2002", "streamKey": "game" },
                    { "uid": "2002", "streamType": "sub", "streamKey": "voice", "onNoVideo": "leavePane" },
                    { "uid": "3003", "streamKey": "camera" },
                    { "uid": "3003", "streamType": "sub", "streamKey": "screen" },
                    { "uid": "4004", "streamKey": "silent" }
                  ],
                  "canvas": { "width": 320, "height": 180 },
                  "scenes": [{ "sceneId": "all", "panes": [\(panes.joined(separator: ", "))] }],
                  "renditions": \(Rooms.small),
                  "outputs": [{ "type": "hls", "path": "\(directory)", "http": { "listen": "127.0.0.1:0" } }]
                }
                """
        }
    }
}
