import MediaTypes
import PipelineSpec
import Testing

@Suite("The pipeline file: defaults and derived values")
struct PipelineTests {
    @Test("the smallest valid file gives a room with all defaults")
    func defaults() throws {
        let report = Pipeline.parse(
            """
            { "room": {"roomId": "r"}, "sources": [{"uid": 7, "streamKey": "k"}],
              "scenes": [{"sceneId": "s", "layout": "solo", "uids": [7]}], "outputs": [{"path": "out"}] }
            """)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(report.warnings.isEmpty)
        #expect(
            pipeline
                == Pipeline(
                    room: .init(roomID: "r"), sources: [.init(SourceID("7"), .rtmp(streamKeys: [.inline("k")]))],
                    scenes: [Scene("s", .layout(.solo, uids: ["7"]))], outputs: [.hls(HLSOutput(path: "out"))]))
        #expect(pipeline.program.scene == "s")
        #expect(pipeline.ingest.rtmp.listen?.description == "0.0.0.0:1935")
        #expect(pipeline.renditions.map(\.name) == ["720p", "480p", "360p", "240p", "audioOnly"])
        #expect(pipeline.hls?.http.listen?.description == "127.0.0.1:0")
        #expect(pipeline.hls?.gopFrames == 32 && pipeline.hls?.partFrames == 16 && pipeline.hls?.segmentFrames == 64)
        #expect(pipeline.durationMs == nil)
    }

    @Test("the parsed pipeline has the file's duration, token, sources, scene, rendition and limit")
    func everyKey() throws {
        let report = Pipeline.parse(Documents.full[0])
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(pipeline.durationMs == 1500)
        #expect(pipeline.control.token == .file("/run/token"))
        #expect(pipeline.sources.map(\.id.description) == ["1001", "1001/sub", "2002", "2003", "3003", "4004", "5005"])
        #expect(
            pipeline.sources.map(\.input) == [
                .rtmp(streamKeys: [.inline("hunter2a")]), .rtmp(streamKeys: [.env("KEY")]),
                .rtmp(streamKeys: [.file("/run/key")]),
                .rtmp(streamKeys: [.inline("hunter2c"), .inline("hunter2d")]),
                .file(path: "a.mp4", loop: true), .pull(url: .inline("rtmp://cdn.example/live/x")),
                .pull(url: .env("PULL_URL")),
            ])
        #expect(pipeline.sources[0].offsetMs == -40)
        #expect(pipeline.sources[0].expected?.variableFrameRate == true)
        let scene = try #require(pipeline.scene("pk"))
        #expect(scene.backgroundColor == Color(red: 0, green: 0, blue: 255))
        #expect(pipeline.renditions[0].fps == 25)
        #expect(pipeline.renditions[0].video.maxBitrate == 800_000)
        #expect(pipeline.limits.maxSources == 7)
    }

    @Test("a scene's volume for a user overrides the pane's, which overrides the source's; audioPush off gives 0")
    func volumes() throws {
        var pipeline = try #require(Pipeline.parse(Documents.room).pipeline)
        pipeline.sources[1].volume = 80
        var pane = Pane(SourceID("2002"), x: 0, y: 0, width: 2, height: 2)
        var scene = Scene("s", .panes([pane]))
        #expect(pipeline.volume(of: pane, in: scene) == 80)
        pane.volume = 0
        #expect(pipeline.volume(of: pane, in: scene) == 0)
        scene.audioOverrides = [.init(uid: "2002", volume: 60)]
        #expect(pipeline.volume(of: pane, in: scene) == 60)
        pane.audioPush = false
        #expect(pipeline.volume(of: pane, in: scene) == 0)
    }

    @Test("an offline room has no viewers' listener and an event playlist, unless these are set")
    func offlineDefaults() throws {
        let text = Documents.room.replacing("\"streamKey\": \"hunter2a\"", with: "\"type\": \"file\", \"path\": \"a\"")
            .replacing("\"streamKey\": \"hunter2b\"", with: "\"type\": \"file\", \"path\": \"b\"")
        let offline = try #require(Pipeline.parse(text, overrides: [.init(path: "clock", value: "offline")]).pipeline)
        #expect(offline.hls?.http.listen == nil)
        #expect(offline.hls?.playlistType == .event)
        let told = try #require(
            Pipeline.parse(
                text,
                overrides: [
                    .init(path: "clock", value: "offline"), .init(path: "outputs[0].playlistType", value: "live"),
                    .init(path: "outputs[0].http.listen", value: "127.0.0.1:80"),
                ]
            ).pipeline)
        #expect(told.hls?.http.listen == .tcp(host: "127.0.0.1", port: 80))
        #expect(told.hls?.playlistType == .live)
    }

    @Test(
        "odd positions and sizes of panes and canvas are lowered to even ones, with a warning that names the location")
    func oddIsLowered() throws {
        let report = Pipeline.parse(
            Documents.room.replacing("\"x\": 640, \"width\": 640", with: "\"x\": 641, \"width\": 639"),
            overrides: [.init(path: "canvas.height", value: "721")])
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(pipeline.canvas.height == 720)
        let pane = try #require(pipeline.scenes[1].resolvedPanes(canvas: pipeline.canvas).last)
        #expect(pane.rect.x == 640 && pane.rect.width == 638)
        #expect(report.warnings.map(\.path) == ["scenes[1].panes[1].x", "scenes[1].panes[1].width", "canvas.height"])
        #expect(
            report.text(file: "f").hasPrefix(
                "warning: f:13:29: scenes[1].panes[1].x: 641 is odd and was lowered to 640. Fix: write 640\n"))
    }

    @Test("at 60 fps, default parts have 32 frames and GOPs 64")
    func gridOfOtherRates() throws {
        let hls = try #require(
            Pipeline.parse(Documents.room, overrides: [.init(path: "canvas.fps", value: "60")]).pipeline?.hls)
        #expect(hls.partFrames == 32 && hls.gopFrames == 64)
    }

    @Test("with the baseline profile, bFrames is 0 by default")
    func baseline() throws {
        let set = SpecOverride(path: "renditions[0].video.profile", value: "baseline")
        #expect(
            try #require(Pipeline.parse(Documents.room, overrides: [set]).pipeline).renditions[0].video.bFrames == 0)
    }
}
