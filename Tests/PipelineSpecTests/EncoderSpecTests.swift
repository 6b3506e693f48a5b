import PipelineSpec
import Testing

@Suite("Pipeline file: the encoder of a rendition")
struct EncoderSpecTests {
    private static func read(_ video: String, _ checks: SpecChecks = .none) -> SpecReport {
        let rendition = #"{ "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } }"#
        return Pipeline.parse(
            Documents.room.replacing("[ \(rendition) ]", with: "[ \(rendition.replacing("2500000", with: video)) ]"),
            checks: checks)
    }

    @Test("the default is libx264; a hardware encoder is allowed with a warning and has no B-frames by default")
    func words() throws {
        #expect(try Self.read("2500000").result.get().renditions[0].video.encoder == .libx264)
        for (word, encoder) in [
            ("h264_nvenc", VideoEncoding.Encoder.nvenc), ("h264_vaapi", .vaapi), ("h264_qsv", .qsv),
        ] {
            let report = Self.read(
                #"2500000, "encoder": "\#(word)", "encoderFallback": true, "preset": "tandem-fast""#)
            let video = try report.result.get().renditions[0].video
            #expect(video.encoder == encoder && video.encoderFallback && video.bFrames == 0)
            #expect(report.warnings.map(\.path) == ["renditions[0].video.encoder"])
            #expect(report.warnings.first?.what.contains("untested on hardware") == true)
        }
    }

    @Test(
        "a member that a hardware encoder does not have, a fallback from libx264 and an unknown encoder are mistakes at their keys",
        arguments: [
            (#""encoder": "h264_vaapi", "bFrames": 1"#, "bFrames"),
            (#""encoder": "h264_qsv", "threads": 2"#, "threads"),
            (#""encoder": "h264_nvenc", "passthrough": "auto""#, "passthrough"),
            (#""encoderFallback": true"#, "encoderFallback"), (#""encoder": "nvenc""#, "encoder"),
        ])
    func mistakes(members: String, key: String) {
        let report = Self.read("2500000, \(members)")
        #expect(report.mistakes.map(\.path) == ["renditions[0].video.\(key)"])
    }

    @Test("a hardware encoder that FFmpeg lacks is a warning at its key")
    func missing() {
        let checks = SpecChecks(library: { part in
            part == .hardwareEncoder(.qsv) ? SpecChecks.Problem("is missing", fix: "install it") : nil
        })
        let report = Self.read(#"2500000, "encoder": "h264_qsv""#, checks)
        #expect(report.warnings.filter { $0.what == "is missing" }.map(\.path) == ["renditions[0].video.encoder"])
    }
}
