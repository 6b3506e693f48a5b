import PipelineSpec
import Testing

@Suite("pipelines/: the example rooms")
struct PipelineExampleTests {
    static let names = [
        "solo", "pk-landscape", "pk-portrait", "pk-decorated", "guests", "ladder", "offline", "record-sources",
        "voice", "voice-stage", "moderated", "captions",
    ]

    private func load(_ name: String) throws -> Pipeline {
        let bytes = try #require(Documents.read("pipelines/\(name).json"))
        let report = Pipeline.parse(bytes)
        #expect(report.warnings.isEmpty)
        return try #require(report.pipeline, "\(report.text(file: name))")
    }

    @Test("each example has no error or warning, and its summary contains no inline stream key", arguments: Self.names)
    func isValid(name: String) throws {
        let pipeline = try self.load(name)
        for source in pipeline.sources {
            if case .rtmp(let keys) = source.input, case .inline(let key)? = keys.first {
                #expect(!pipeline.summary().contains(key))
            }
        }
    }

    @Test("the landscape PK example has at most 15 lines")
    func pkIsShort() throws {
        let bytes = try #require(Documents.read("pipelines/pk-landscape.json"))
        #expect(bytes.count { $0 == UInt8(ascii: "\n") } <= 15)
    }

    @Test(
        "the landscape PK example shows two halves, the portrait one a 720x640 band; its scene `punish` plays the second source at 60 %"
    )
    func pkPanes() throws {
        let landscape = try self.load("pk-landscape")
        let portrait = try self.load("pk-portrait")
        func rectangles(_ pipeline: Pipeline) throws -> [[Int]] {
            try #require(pipeline.scene("pk")).resolvedPanes(canvas: pipeline.canvas).map {
                [$0.rect.x, $0.rect.y, $0.rect.width, $0.rect.height]
            }
        }
        #expect(try rectangles(landscape) == [[0, 0, 640, 720], [640, 0, 640, 720]])
        #expect(try rectangles(portrait) == [[0, 320, 360, 640], [360, 320, 360, 640]])
        let punish = try #require(portrait.scene("punish"))
        #expect(
            punish.resolvedPanes(canvas: portrait.canvas).map { portrait.volume(of: $0.pane, in: punish) } == [100, 60])
    }

    @Test(
        "a pipeline's summary shows canvas, sources, scenes, ladder, output and grid of a live room, and an offline room's end"
    )
    func summary() throws {
        #expect(
            try self.load("pk-landscape").summary() == """
                room     88231 "PK, side by side", live
                canvas   1280x720, 30 fps, background #101014
                sources  1001 "anchorA": rtmp
                         2002 "anchorB": rtmp
                scenes   solo (first on air): 1001 1280x720+0+0
                         pk: 1001 640x720+0+0, 2002 640x720+640+0
                audio    AAC 128,000 bit/s, 48000 Hz, 2 channels
                ladder   720p: 1280x720, 2,500,000 bit/s, peak 2,750,000, libx264 veryfast high
                         480p: 854x480, 1,200,000 bit/s, peak 1,320,000, libx264 veryfast high
                         360p: 640x360, 700,000 bit/s, peak 770,000, libx264 veryfast high
                         240p: 426x240, 150,000 bit/s, peak 165,000, libx264 veryfast high
                         audioOnly: audio only, audio
                output   hls: live HLS in out/88231, index.m3u8, viewers at 127.0.0.1:8080
                grid     part 16 frames = 0.533 s, GOP 32 frames = 1.067 s
                         segment 2 GOPs = 64 frames = 2.133 s, TARGETDURATION 2, window 60 s
                ingest   rtmp://0.0.0.0:1935/live
                control  127.0.0.1:0

                """)
        let offline = try self.load("offline").summary()
        #expect(offline.contains("offline, ends after 20 s\n"))
        #expect(offline.contains("1001: file media/a.mp4\n"))
        #expect(offline.contains("raw: raw video in out/canvas.y4m\n"))
        #expect(!offline.contains("ingest") && !offline.contains("window"))
    }
}
