import PipelineSpec
import Testing

@Suite("Pipeline file: overlays")
struct OverlaySpecTests {
    private static func report(
        _ overlays: String, members: String = "", renditions: String? = nil, checks: SpecChecks = .none
    ) -> SpecReport {
        Pipeline.parse(
            Array(
                """
                {
                  "room": { "roomId": "1" }, "sources": [{ "uid": "1", "streamKey": "key_1" }], \(members)
                  "canvas": { "width": 1280, "height": 720 }, \(renditions.map { "\"renditions\": \($0)," } ?? "")
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1"] }],
                  "outputs": [{ "type": "hls", "path": "out" }], "overlays": \(overlays)
                }
                """.utf8), checks: checks)
    }

    @Test("an overlay with a name and a path is read, with or without a position; an odd x is lowered to an even one")
    func valid() {
        let report = Self.report(
            #"[ { "name": "rose", "path": "rose.webm" }, { "name": "car", "path": "car.mp4", "alpha": "left", "x": 641, "y": 10 } ]"#
        )
        let overlays = report.pipeline?.overlays
        #expect(overlays?.map(\.name) == ["rose", "car"] && overlays?.first?.volume == 100)
        #expect(overlays?.last?.alpha == .left && overlays?.last?.x == 640, "\(report.text(file: ""))")
    }

    @Test(
        "each mistake in overlays is reported at its path",
        arguments: [
            (#"[ { "path": "a.webm" } ]"#, "overlays[0].name"), (#"[ { "name": "a" } ]"#, "overlays[0].path"),
            (#"[ { "name": "a b", "path": "a.webm" } ]"#, "overlays[0].name"),
            (#"[ { "name": "a", "path": "a" }, { "name": "a", "path": "b" } ]"#, "overlays[1].name"),
            (#"[ { "name": "a", "path": "a", "alpha": "top" } ]"#, "overlays[0].alpha"),
            (#"[ { "name": "a", "path": "a", "volume": 201 } ]"#, "overlays[0].volume"),
            (#"[ { "name": "a", "path": "a", "x": 640, "width": 642 } ]"#, "overlays[0]"),
            (#"[ { "name": "a", "path": "a", "y": 720 } ]"#, "overlays[0]"),
        ])
    func mistakes(overlays: String, path: String) {
        let report = Self.report(overlays)
        #expect(report.pipeline == nil && report.mistakes.contains { $0.path == path }, "\(report.text(file: ""))")
    }

    @Test(
        "overlays in a room without video are refused; an unusable overlay file is an error, a doubtful one a warning")
    func neverSeen() {
        let voice = Self.report(
            #"[ { "name": "a", "path": "a" } ]"#, renditions: #"[ { "name": "voice", "video": null } ]"#)
        #expect(voice.mistakes.contains { $0.path == "overlays" }, "\(voice.text(file: ""))")
        var checks = SpecChecks.none
        checks.animation = { path, alpha in
            let problem = SpecChecks.Problem("\(path) has a problem", fix: "repair it")
            return path == "bad" ? .unusable(problem) : alpha == nil ? .doubtful(problem) : nil
        }
        let files = Self.report(
            #"[ { "name": "a", "path": "bad" }, { "name": "b", "path": "b" }, { "name": "c", "path": "c", "alpha": "left" } ]"#,
            checks: checks)
        #expect(files.mistakes.map(\.path) == ["overlays[0].path"])
        #expect(files.warnings.map(\.path) == ["overlays[1].path"])
    }
}
