import MediaTypes
import PipelineSpec
import TestSupport
import Testing

@Suite("A scene document, with the members and rules of the pipeline file")
struct SceneParseTests {
    private static func parse(_ text: String, _ sceneID: String = "new", checks: SpecChecks = .none) throws
        -> SceneReport
    {
        let pipeline = try #require(Pipeline.parse(Documents.room).pipeline)
        return Scene.parse(Array(text.utf8), sceneID: sceneID, in: pipeline, checks: checks)
    }

    @Test("a scene document gives the same scene as in the pipeline file; its id may come from the request")
    func sameAsInTheFile() throws {
        let members = """
            "revision": 3, "panes": [ { "uid": "1001", "width": "50%", "height": 720, "crop": { "x": "10%" } } ],
            "texts": [ { "textId": "t", "text": "한국어" } ], "transition": { "type": "crossfade" }
            """
        let file = Documents.room.replacing(
            #"{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }"#, with: #"{ "sceneId": "solo", \#(members) }"#)
        let expected = try #require(Pipeline.parse(file).pipeline?.scene("solo"))
        let named = try Self.parse(#"{ "sceneId": "solo", \#(members) }"#, "solo")
        let unnamed = try Self.parse("{ \(members) }", "solo")
        #expect(named.scene == expected && unnamed.scene == expected)
        #expect(named.hasRevision && expected.revision == 3)
        guard case .panes(let panes) = expected.arrangement else { Issue.record("no panes"); return }
        #expect(panes[0].crop.area.width == .share(900_000), "what remains beside x")
        #expect(expected.transition.durationMs == 500)
        #expect(try !Self.parse(#"{ "layout": "auto" }"#).hasRevision)
    }

    @Test(
        "each mistake in a scene document is one error with its path, what is wrong, its line and a fix",
        arguments: [
            (#"{ "layout": "solo", "uids": ["9"] }"#, "uids[0]", #"there is no source with uid "9""#),
            (
                #"{ "panes": [ { "uid": "1001", "x": "60%", "width": "50%", "height": 2 } ] }"#, "panes[0].width",
                "the pane ends at x = 1408, outside the canvas of 1280x720"
            ),
            (#"{ "layout": "solo" }"#, "uids", "is missing"),
            (
                #"{ "layuot": "auto", "panes": [ { "uid": 1001, "width": 2, "height": 2 } ] }"#, "layuot",
                #"unknown key "layuot""#
            ),
            (#"{ "sceneId": "other", "layout": "auto" }"#, "sceneId", #""other" is not the scene of this request"#),
            ("[]", "", "is an array, not an object"), ("", "", "the text is empty"),
            (
                #"{ "canvas": { "width": 720, "height": 640 }, "layout": "auto" }"#, "canvas",
                "the canvas has one size for all scenes"
            ),
            (
                #"{ "layout": "auto", "transition": { "durationMs": 200 } }"#, "transition.durationMs",
                "does not apply to a cut"
            ),
            (
                #"{ "layout": "auto", "scoreBars": [ { "scoreId": "a", "width": 2, "height": 2, "x": 1280 } ] }"#,
                "scoreBars[0].x", "the bar ends at x = 1282, outside the canvas of 1280x720"
            ),
        ])
    func mistakes(text: String, path: String, what: String) throws {
        let report = try Self.parse(text)
        #expect(report.scene == nil)
        #expect(report.mistakes.map(\.path) == [path])
        #expect(report.mistakes.map(\.what) == [what])
        #expect(report.mistakes.allSatisfy { !$0.fix.isEmpty && $0.line == 1 })
    }

    @Test("a scene document with nesting of more than 64 levels is refused")
    func depth() throws {
        let deep = String(repeating: "[", count: 100_000)
        #expect(try Self.parse(#"{ "panes": \#(deep)"#).mistakes.map(\.what) == ["nested deeper than 64 levels"])
    }

    @Test("a missing image or font file is an error, text or a name that no font covers a warning, each at its path")
    func machineChecks() throws {
        let checks = SpecChecks(
            image: { $0 == "gone.png" ? .init("there is no file gone.png", fix: "check the path") : nil },
            font: { $0 == "gone.ttf" ? .init("there is no file gone.ttf", fix: "check the path") : nil },
            text: { text, fonts in
                text.contains("漢") && fonts.isEmpty ? .init("no font has its characters", fix: "install one") : nil
            })
        let report = try Self.parse(
            """
            { "layout": "auto", "images": [ { "path": "here.png", "width": 2, "height": 2 },
                { "path": "gone.png", "width": 2, "height": 2 } ],
              "texts": [ { "textId": "a", "text": "A" }, { "textId": "b", "text": "漢" } ] }
            """, checks: checks)
        #expect(report.mistakes.map(\.path) == ["images[1].path"])
        #expect(report.mistakes.map(\.line) == [2])
        #expect(report.warnings.map(\.path) == ["texts[1].text"])
        let file = Documents.room.replacing(#""fps": 30"#, with: #""fps": 30, "policy": "perScene""#)
        #expect(Pipeline.parse(file).pipeline?.canvas.policy == .perScene)
        let large = file.replacing(
            #""sceneId": "solo","#, with: #""sceneId": "solo", "canvas": { "width": 1920, "height": 64 },"#)
        #expect(Pipeline.parse(large).mistakes.map(\.path) == ["scenes[0].canvas"])
        let lost = Documents.room.replacing(
            #""streamKey": "hunter2b""#, with: #""streamKey": "b", "onLost": { "placeholderImage": "gone.png" }"#)
        #expect(
            Pipeline.parse(lost, checks: checks).mistakes.map(\.path) == ["sources[1].onLost.placeholderImage"])
        let named = Documents.room.replacing(#""streamKey": "hunter2b""#, with: #""streamKey": "b", "name": "漢""#)
        #expect(Pipeline.parse(named, checks: checks).warnings.map(\.path) == ["sources[1].name"])
        let font = named.replacing(#""fps": 30"#, with: #""fps": 30, "fonts": ["here.ttf"]"#)
        let parsed = Pipeline.parse(font, checks: checks)
        #expect(parsed.pipeline?.canvas.fonts == ["here.ttf"] && parsed.warnings.isEmpty)
        let gone = font.replacing("here.ttf", with: "gone.ttf")
        #expect(Pipeline.parse(gone, checks: checks).mistakes.map(\.path) == ["canvas.fonts[0]"])
    }

    @Test("a scene document with up to six bytes replaced gives a scene or errors, without a trap")
    func anyBytes() throws {
        var random = TestRandom(state: 7)
        let seed = Array(
            #"{"layout":"auto","panes":[{"uid":"1001","x":"5%","width":2,"crop":{"x":"1%"}}],"texts":[{"textId":"t"}]}"#
                .utf8)
        let pipeline = try #require(Pipeline.parse(Documents.room).pipeline)
        for _ in 0..<3000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let report = Scene.parse(bytes, sceneID: "s", in: pipeline)
            #expect((report.scene == nil) == !report.mistakes.isEmpty)
        }
    }
}
