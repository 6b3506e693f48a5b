import Foundation
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    /// Each track and stream of a user is seen or heard.
    @Suite("Sources of one user: camera and screen, app audio and microphone, each alone or together")
    struct TrackTests {
        /// Frequency of each tone in hertz, at least a hundred apart.
        private enum Tone {
            static let app = 500, microphone = 700, voiceOver = 900, voice = 1_100, camera = 1_300, screen = 1_500
        }

        /// 1001: app and microphone as two tracks. 2002: as two streams, the second without video, so that its pane leaves the scene.
        /// 3003: camera and screen, each with audio. 4004: video only.
        private static let sources: [(uid: String, content: ScriptedContent)] = [
            ("1001", ScriptedContent(appearance: .init(background: 60), tones: [0: Tone.app, 1: Tone.microphone])),
            ("2002", ScriptedContent(appearance: .init(background: 90), tones: [0: Tone.voiceOver])),
            ("2002/sub", ScriptedContent(tones: [0: Tone.voice])),
            ("3003", ScriptedContent(appearance: .init(background: 120), tones: [0: Tone.camera])),
            ("3003/sub", ScriptedContent(appearance: .init(background: 150), tones: [0: Tone.screen])),
            ("4004", ScriptedContent(appearance: .init(background: 180))),
        ]

        private static func key(_ uid: String) -> String {
            "key-of-\(uid.replacingOccurrences(of: "/", with: "-"))"
        }

        private static func pipeline(_ directory: String) -> String {
            let panes =
                [("1001", "main"), ("2002", "main"), ("3003", "main"), ("3003", "sub"), ("4004", "main")]
                .enumerated().map { index, source in
                    #"{ "uid": "\#(source.0)", "streamType": "\#(source.1)", "x": \#(32 * index), "width": 32, "#
                        + #""height": 90, "adaption": "stretch" }"#
                } + [#"{ "uid": "2002", "streamType": "sub", "width": 32, "height": 18, "zOrder": 9 }"#]
            return """
                {
                  "room": { "roomId": "tracks" }, "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
                  "sources": [
                    { "uid": "1001", "streamKey": "\(Self.key("1001"))", "audioTracks": [{ "track": 1, "volume": 50 }] },
                    { "uid": "2002", "streamKey": "\(Self.key("2002"))" },
                    { "uid": "2002", "streamType": "sub", "streamKey": "\(Self.key("2002/sub"))", "onNoVideo": "leavePane" },
                    { "uid": "3003", "streamKey": "\(Self.key("3003"))" },
                    { "uid": "3003", "streamType": "sub", "streamKey": "\(Self.key("3003/sub"))" },
                    { "uid": "4004", "streamKey": "\(Self.key("4004"))" }
                  ],
                  "canvas": { "width": 160, "height": 90, "fps": 10 },
                  "scenes": [{ "sceneId": "all", "panes": [\(panes.joined(separator: ", "))] }],
                  "renditions": [
                    { "name": "90p", "width": 160, "height": 90, "video": { "bitrate": 100000, "preset": "ultrafast" } }
                  ],
                  "outputs": [
                    { "type": "hls", "path": "\(directory)", "lowLatency": false, "http": { "listen": null } }
                    \(HarnessRooms.raw(directory))
                  ]
                }
                """
        }

        @Test(
            "users with two audio tracks, two streams, and video only are all seen and heard in one room, each track at its volume"
        )
        func everything() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await RoomHarness.open(Self.pipeline(directory.path))
            for (uid, content) in Self.sources {
                let mark = room.events.count
                try await room.connect(uid, content, key: Self.key(uid))
                try await room.run(until: "source.live", uid: uid, from: mark)
            }
            try await room.run(seconds: 2)
            let muted = try await room.tick()
            try await room.command(.put, "/v1/sources/1001", #"{ "audioTrack": 1, "volume": 0 }"#)
            let unknown = try await room.command(
                .put, "/v1/sources/1001", #"{ "audioTrack": 9, "volume": 0 }"#, status: 404)
            #expect(unknown.body.contains("use one of these tracks: 0, 1"), "\(unknown.body)")
            let source = try await room.command(.get, "/v1/sources/1001")
            guard case .array(let tracks)? = source.member("audioTracks")?.content else {
                Issue.record("no tracks: \(source.body)")
                return
            }
            #expect(tracks.map { $0[key: "track"]?.integer } == [0, 1])
            #expect(tracks.map { $0[key: "volume"]?.integer } == [100, 0])
            try await room.run(seconds: 2)
            let end = try await room.tick()
            try await room.end()
            #expect(room.events.all("source.undecodable").isEmpty && room.events.all("source.reanchored").count <= 6)

            let start = try #require(room.events.all("program.started").first?.integer("firstTick"))
            let frames = try CanvasFrames(directory, firstTick: start)
            for tick in muted..<end {
                // Below the moving squares, and below the pane of the stream without video.
                let lumas = (0..<5).map { Int(frames.luma(tick, 16 + 32 * $0, 75)) }
                let isRight = zip(lumas, [60, 90, 120, 150, 180]).allSatisfy { abs($0 - $1) <= 6 }
                #expect(isRight, "tick \(tick): \(lumas)")
            }
            try await Self.judgeAudio(directory, muted: Double(muted - start) / 10, end: Double(end - start) / 10)
        }

        /// Checks the level of each tone before the microphone is muted, and before the end.
        ///
        /// - Parameters:
        ///   - muted: Seconds of the program at which the first user's microphone was muted.
        ///   - end: When the room was asked to end.
        private static func judgeAudio(_ directory: RoomDirectory, muted: Double, end: Double) async throws {
            let audio = try await PublishedAudio(directory)
            let others = [
                (Tone.app, "app"), (Tone.voiceOver, "voice-over"), (Tone.voice, "voice"), (Tone.camera, "camera"),
                (Tone.screen, "screen"),
            ]
            /// The median over the second that ends 0.3 s before a time.
            func level(_ hertz: Int, before time: Double) -> Double {
                let last = Int((time - 0.3) * Double(PublishedAudio.rate))
                return audio.level(hertz)[last - PublishedAudio.rate..<last].sorted()[PublishedAudio.rate / 2]
            }
            let whole = level(Tone.app, before: muted)
            #expect(abs(whole / Double(ScriptedTone.amplitude) - 1) < 0.1, "\(whole)")
            for (hertz, name) in others {
                for time in [muted, end] {
                    let level = level(hertz, before: time)
                    #expect(abs(level / whole - 1) < 0.1, "\(name) before \(time): \(level)")
                }
            }
            let microphone = (level(Tone.microphone, before: muted), level(Tone.microphone, before: end))
            #expect(abs(microphone.0 / whole - 0.5) < 0.05, "volume 50 of its track: \(microphone.0)")
            #expect(microphone.1 < 0.05 * whole, "volume 0 of its track, by command: \(microphone.1)")
        }
    }
}
