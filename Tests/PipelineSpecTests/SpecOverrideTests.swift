import PipelineSpec
import Testing

@Suite("--set: values on the command line override the file's")
struct SpecOverrideTests {
    private func parse(_ arguments: String...) -> SpecReport {
        Pipeline.parse(Documents.room, overrides: arguments.compactMap { SpecOverride(argument: $0) })
    }

    @Test("a --set argument is split at its first =, and refused without = or path")
    func cutsArgument() {
        #expect(SpecOverride(argument: "a.b=c=d") == SpecOverride(path: "a.b", value: "c=d"))
        #expect(SpecOverride(argument: "a=") == SpecOverride(path: "a", value: ""))
        #expect(SpecOverride(argument: "=a") == nil)
        #expect(SpecOverride(argument: "a") == nil)
    }

    @Test("a --set value is JSON if possible, otherwise text; where text is expected, a number or true is text")
    func valueKinds() throws {
        let report = self.parse(
            "canvas.fps=25", "outputs[0].path=/tmp/x y", "sources[0].streamKey=12345", "sources[1].uid=\"7\"",
            "scenes[1].panes[1].uid=7", "outputs[0].http.listen=null", "room.title=true",
            "outputs[0].http.allowOrigins=[\"https://a.example\"]", "sources[1].onLost={\"holdMs\": 5}")
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(pipeline.canvas.fps == 25)
        #expect(pipeline.outputs[0].path == "/tmp/x y")
        #expect(pipeline.sources[0].input == .rtmp(streamKeys: [.inline("12345")]))
        #expect(pipeline.sources[1].id.uid == "7")
        #expect(pipeline.hls?.http.listen == nil)
        #expect(pipeline.hls?.http.allowOrigins == ["https://a.example"])
        #expect(pipeline.room.title == "true")
        #expect(pipeline.sources[1].onLost.holdMs == 5)
    }

    @Test("--set creates missing objects on its path, and of two --set flags for one path the later wins")
    func makesObjects() throws {
        let pipeline = try #require(
            self.parse("ingest.rtmp.listen=127.0.0.1:1", "ingest.rtmp.listen=127.0.0.1:2").pipeline)
        #expect(pipeline.ingest.rtmp.listen == .tcp(host: "127.0.0.1", port: 2))
    }

    @Test(
        "a --set flag with an unknown path or invalid value is an error that names the flag",
        arguments: [
            ("canvas.widht=1", "canvas.widht", "did you mean \"width\"?"), ("nothing=1", "nothing", "known here"),
            ("sources[2].uid=a", "sources[2].uid", "count from 0"), ("sources.uid=a", "sources.uid", "tandem schema"),
            ("room[0]=a", "room[0]", "write the array"),
            ("canvas.width=wide", "canvas.width", "an integer from 64 to 1920"),
            ("a..b=1", "a..b", "write keys and indexes"), ("[0]=1", "[0]", "write keys and indexes"),
            ("sources[-1].uid=1", "sources[-1].uid", "write keys and indexes"),
            ("a[99999999999]=1", "a[99999999999]", "write keys"),
            ("sources[0]x=1", "sources[0]x", "write keys"), ("a.b c=1", "a.b c", "write keys"),
        ])
    func namesFlag(argument: String, path: String, fix: String) throws {
        let report = self.parse(argument)
        let mistake = try #require(report.mistakes.first)
        #expect(report.mistakes.count == 1, "\(report.text(file: "f"))")
        #expect(mistake.flag == "--set \(path)")
        #expect(mistake.path == path)
        #expect(mistake.line == 0 && mistake.column == 0)
        #expect(mistake.fix.contains(fix), "\(mistake.fix)")
        #expect(mistake.text(file: "room.json").hasPrefix("--set \(path): "))
    }

    @Test("a --set path of 100,000 steps is refused")
    func longPath() {
        let report = Pipeline.parse(
            Documents.room, overrides: [SpecOverride(path: String(repeating: "a.", count: 100_000) + "a", value: "1")])
        #expect(report.mistakes.count == 1)
    }

    @Test("a stream key in an invalid --set flag appears in no message")
    func secretStaysHidden() {
        for argument in [
            "sources[0].streamKey=hunter 3", "sources[0].streamKey={\"hunter3\":1}", "sources[0].streamKey[0]=hunter3",
        ] {
            let report = self.parse(argument)
            #expect(report.pipeline == nil)
            #expect(!report.text(file: "f").contains("hunter"), "\(report.text(file: "f"))")
            #expect(!report.json(file: "f").text().contains("hunter"))
        }
    }
}
