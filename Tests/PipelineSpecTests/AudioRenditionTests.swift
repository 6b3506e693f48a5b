import PipelineSpec
import Testing

@Suite("Pipeline file: audio renditions, half the frame rate, encoder presets, part lengths")
struct AudioRenditionTests {
    private static let videoRendition =
        #"{ "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } }"#

    private static func read(_ renditions: String, more: String = "", output: String = "") -> SpecReport {
        let text = Documents.room.replacing("[ \(self.videoRendition) ]", with: "[ \(renditions) ]\(more)")
        return Pipeline.parse(text.replacing(#"{ "path": "out" }"#, with: #"{ "path": "out"\#(output) }"#))
    }

    @Test("by default the video rendition has the preset veryfast and uses one audio rendition of 128 kbit/s")
    func defaults() throws {
        let pipeline = try Self.read(Self.videoRendition).result.get()
        #expect(pipeline.audioRenditions == [AudioRendition(name: "audio", bitrate: 128_000)])
        #expect(pipeline.renditions[0].audio == ["audio"] && pipeline.renditions[0].video.preset == .veryfast)
    }

    @Test("a rendition uses every audio rendition unless it names some; one with video null is audio only")
    func groups() throws {
        let pipeline = try Self.read(
            Self.videoRendition + #", { "name": "half", "width": 640, "height": 360, "fps": 15, "audio": "lo" }"#
                + #", { "name": "sound", "video": null, "audio": ["lo"] }"#,
            more: #", "audioRenditions": [ { "name": "hi", "bitrate": 192000 }, { "name": "lo", "bitrate": 48000 } ]"#
        ).result.get()
        #expect(pipeline.renditions.map(\.audio) == [["hi", "lo"], ["lo"], ["lo"]])
        #expect(pipeline.renditions.map(\.isAudioOnly) == [false, false, true])
        #expect(pipeline.videoRenditions.map(\.fps) == [30, 15])
        #expect(pipeline.summary().contains("sound: audio only, lo"))
    }

    @Test("a rendition without a preset uses the hls output's, with that preset's default lookahead")
    func preset() throws {
        let own = Self.videoRendition.replacing("\"bitrate\"", with: "\"preset\": \"fast\", \"bitrate\"")
        let video = try Self.read(
            own + #", { "name": "b", "width": 640, "height": 360 }"#, output: #", "preset": "lowLatency""#
        ).result.get().renditions.map(\.video)
        #expect(video.map(\.preset) == [.fast, .lowLatency] && video.map(\.preset.x264Name) == ["fast", "veryfast"])
        #expect(video.map(\.lookaheadFrames) == [5, VideoEncoding.Preset.lowLatency.defaultLookahead])
    }

    @Test("a tandem preset sets one B-frame and a lookahead, unless the pipeline or the profile overrides them")
    func tandemPreset() throws {
        let video = try Self.read(
            #"{ "name": "a", "width": 640, "height": 360, "video": { "preset": "tandem-fast" } }, "#
                + #"{ "name": "b", "width": 640, "height": 360, "video": { "preset": "tandem-lowLatency", "bFrames": 0 } }, "#
                + #"{ "name": "c", "width": 640, "height": 360, "video": { "profile": "baseline", "lookaheadFrames": 4 } }"#,
            output: #", "preset": "tandem-faster""#
        ).result.get().renditions.map(\.video)
        #expect(video.map(\.preset) == [.tandemFast, .tandemLowLatency, .tandemFaster])
        #expect(video.map(\.bFrames) == [1, 0, 0])
        #expect(video.map(\.lookaheadFrames) == [10, 3, 4])
        #expect(video.map(\.preset.x264Name) == ["veryfast", "veryfast", "superfast"])
    }

    @Test(
        "an invalid rendition, audio rendition or part length is an error with its path, what is wrong and a fix",
        arguments: [
            (
                #"{ "name": "a", "video": null }, { "name": "b", "video": null }"#, "", "", "renditions[1].audio",
                "already a variant of renditions[0]"
            ),
            (#"{ "name": "a", "width": 640 }"#, "", "", "renditions[0].height", "is missing"),
            (#"P, { "name": "a", "video": null, "fps": 30 }"#, "", "", "renditions[1].fps", "without video"),
            (#"P, { "name": "a", "video": null, "audio": "x" }"#, "", "", "renditions[1].audio", "no audio rendition"),
            (
                #"P, { "name": "b", "width": 640, "height": 360, "audio": ["audio", "audio"] }"#, "", "",
                "renditions[1].audio", "listed twice"
            ),
            ("P", #", "audioRenditions": [ { "name": "720p" } ]"#, "", "renditions[0].name", "name of an audio"),
            (
                "P", #", "audioRenditions": [ { "name": "a" }, { "name": "a" } ]"#, "", "audioRenditions[1].name",
                "already used by audioRenditions[0]"
            ),
            (
                #"{ "name": "h", "width": 640, "height": 360, "fps": 15 }"#, "",
                #", "gopFrames": 30, "partFrames": 15"#,
                "renditions[0].fps", "a part of 15 frames is not a whole number of frames"
            ),
            (
                #"{ "name": "h", "width": 640, "height": 360, "video": { "preset": "lowLatency", "lookaheadFrames": 9 } }"#,
                "", "", "renditions[0].video.lookaheadFrames", "at most 3 frames"
            ),
            ("P", "", #", "gopFrames": 30, "partFrames": 3"#, "outputs[0].partFrames", "differ by more than 15 %"),
        ])
    func mistakes(renditions: String, more: String, output: String, path: String, what: String) {
        let report = Self.read(
            renditions.replacing("P", with: Self.videoRendition), more: more, output: output)
        #expect(
            report.mistakes.contains { $0.path == path && $0.what.contains(what) && !$0.fix.isEmpty },
            "\(report.mistakes.map { "\($0.path): \($0.what)" })")
    }

    @Test("at 30 fps with partFrames 10, the default GOP is 30 frames")
    func tenFrames() throws {
        let hls = try #require(try Self.read(Self.videoRendition, output: #", "partFrames": 10"#).result.get().hls)
        #expect(hls.gopFrames == 30 && hls.partFrames == 10)
    }
}
