import PipelineSpec
import Testing

@Suite("Pipeline file: hls outputs (part, GOP and segment lengths, paths, I-frame playlists, encryption) and images")
struct HLSOutputTests {
    @Test(
        "default part and GOP lengths in frames follow from the frame rate: 16 and 32 at 30 fps",
        arguments: [
            (30, 16, 32), (60, 32, 64), (25, 13, 26), (24, 13, 26), (15, 8, 16), (50, 27, 54), (1, 1, 1), (2, 1, 2),
        ])
    func gridFollowsFrameRate(fps: Int, part: Int, gop: Int) {
        let partFrames = HLSOutput.defaultPartFrames(fps: fps, gopFrames: nil)
        #expect(partFrames == part)
        #expect(HLSOutput.defaultGopFrames(fps: fps, partFrames: partFrames) == gop)
    }

    @Test(
        "a default part length divides a GOP length set in the file",
        arguments: [(60, 15), (30, 15), (50, 25), (31, 31), (48, 16), (7, 7)])
    func partDividesGop(gop: Int, part: Int) {
        #expect(HLSOutput.defaultPartFrames(fps: 30, gopFrames: gop) == part)
    }

    @Test(
        "TARGETDURATION is the segment length rounded to the nearest second, at least 1: RFC 8216bis §4.4.3.1",
        arguments: [(32, 2, 30, 2), (38, 2, 30, 3), (1, 1, 60, 1), (75, 1, 30, 3)])
    func targetDuration(gop: Int, gops: Int, fps: Int, seconds: Int) {
        var output = HLSOutput(path: "x")
        output.gopFrames = gop
        output.segmentGops = gops
        #expect(output.targetDuration(fps: fps) == seconds)
    }

    @Test(
        "recordings and clips of an encrypted room may not be inside its HLS output directories",
        arguments: [
            ("rec", "clips", ""), ("out-rec", "out-clips", ""), ("../out/rec", "/out/clips", ""),
            ("out/rec", "clips", "outputs[1].path"), ("./x/../out/rec", "clips", "outputs[1].path"),
            ("out-ts/rec", "clips", "outputs[1].path"), ("rec", "out//clips", "outputs[0].clipPath"),
        ])
    func clearPlaces(record: String, clips: String, wrong: String) {
        func report(_ encryption: String) -> SpecReport {
            Pipeline.parse(
                Documents.room.replacing(
                    "{ \"path\": \"out\" }",
                    with: """
                        { "path": "out", \(encryption) "clipPath": "\(clips)" },
                        { "type": "record", "path": "\(record)" },
                        { "type": "hls", "segmentFormat": "ts", "path": "out-ts" }
                        """))
        }
        #expect(report("").pipeline?.hls?.clipPath == clips, "\(report("").text(file: "f"))")
        let sealed = report("\"encryption\": {},")
        #expect((sealed.pipeline == nil) == !wrong.isEmpty, "\(sealed.text(file: "f"))")
        #expect(sealed.mistakes.map(\.path) == (wrong.isEmpty ? [] : [wrong]))
    }

    @Test("a rendition with the name of another's I-frame playlist is an error if iFramePlaylists is true")
    func iFramePlaylistNames() {
        func mistakes(_ iFrames: Bool) -> [String] {
            Pipeline.parse(
                Documents.room.replacing(
                    "\"video\": { \"bitrate\": 2500000 } }",
                    with: """
                        "video": { "bitrate": 2500000 } }, { "name": "720p-iframes", "width": 640, "height": 360 }
                        """
                ).replacing("{ \"path\": \"out\" }", with: "{ \"path\": \"out\", \"iFramePlaylists\": \(iFrames) }")
            ).mistakes.map(\.path)
        }
        #expect(mistakes(true) == ["outputs[0].iFramePlaylists"])
        #expect(mistakes(false) == [])
    }

    @Test(
        "two image outputs with the same file name in different directories cause a warning",
        arguments: [("b/s.jpg", true), ("b/t.jpg", false)])
    func imageNames(path: String, isWarned: Bool) {
        let report = Pipeline.parse(
            Documents.room.replacing(
                "{ \"path\": \"out\" }",
                with: """
                    { "path": "out" }, { "type": "image", "path": "a/s.jpg" },
                    { "type": "image", "outputId": "b", "path": "\(path)" }
                    """))
        #expect(report.pipeline != nil, "\(report.text(file: "f"))")
        #expect(report.warnings.map(\.path) == (isWarned ? ["outputs[2].path"] : []))
    }

    @Test("a clipPath equal to the output's path is refused")
    func clipPath() {
        let report = Pipeline.parse(
            Documents.room.replacing("{ \"path\": \"out\" }", with: "{ \"path\": \"out\", \"clipPath\": \"out\" }"))
        #expect(report.mistakes.map(\.path) == ["outputs[0].clipPath"])
    }

    @Test("an encrypted output may have I-frame playlists and an MPEG-TS output beside it; MPEG-TS alone is refused")
    func encryptedForms() {
        let forms = Documents.room.replacing(
            "\"path\": \"out\"",
            with: "\"path\": \"out\", \"iFramePlaylists\": true, \"encryption\": { \"secretEnv\": \"KEYS\" }"
        ).replacing(
            "\"outputs\": [ ",
            with: "\"outputs\": [ { \"type\": \"hls\", \"segmentFormat\": \"ts\", \"path\": \"out-ts\" }, ")
        let report = Pipeline.parse(forms)
        #expect(report.pipeline?.hls?.iFramePlaylists == true, "\(report.text(file: "f"))")
        #expect(report.pipeline?.transports.count == 1 && report.pipeline?.hls?.encryption != nil)
        let alone = Pipeline.parse(
            Documents.room.replacing(
                "{ \"path\": \"out\" }", with: "{ \"type\": \"hls\", \"segmentFormat\": \"ts\", \"path\": \"out-ts\" }")
        )
        #expect(alone.pipeline == nil && alone.text(file: "f").contains("and there is none"))
    }
}
