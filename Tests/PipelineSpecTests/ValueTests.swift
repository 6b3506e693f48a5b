import MediaTypes
import PipelineSpec
import Testing

@Suite("Values of the pipeline file: colors, image paths, secrets")
struct ValueTests {
    @Test("a color is #RRGGBB or the integer R*65536 + G*256 + B; other values are refused")
    func colors() {
        #expect(Color("#101014") == Color(red: 16, green: 16, blue: 20))
        #expect(Color("#aBcDeF")?.description == "#ABCDEF")
        #expect(Color(packed: 16 * 65536 + 16 * 256 + 20) == Color("#101014"))
        for text in ["", "#", "101014", "#10101", "#1010144", "#+10101", "#-10101", "#GGGGGG", "red", "#1010é"] {
            #expect(Color(text) == nil, "\(text)")
        }
        #expect(Color(packed: -1) == nil)
        #expect(Color(packed: 1 << 24) == nil)
    }

    @Test("an image in a pipeline file is a path or a file:// URL; other URLs are refused")
    func images() {
        func report(_ image: String) -> SpecReport {
            Pipeline.parse(
                Documents.room.replacing(
                    #""streamKey": "hunter2a""#,
                    with: #""streamKey": "hunter2a", "onLost": { "placeholderImage": "\#(image)" }"#
                ).replacing(
                    #""fps": 30"#,
                    with: #""fps": 30, "bgImages": [{ "path": "\#(image)" }]"#))
        }
        for (written, path) in [("a/b.png", "a/b.png"), ("file:///a/b.png", "/a/b.png")] {
            let pipeline = report(written).pipeline
            #expect(pipeline?.sources.first?.onLost.placeholderImage == path)
            #expect(pipeline?.canvas.bgImages.map(\.path) == [path])
        }
        #expect(
            report("https://a.example/b.png").mistakes.map(\.path)
                == ["sources[0].onLost.placeholderImage", "canvas.bgImages[0].path"])
    }

    @Test("no description or dump() of a source or a secret shows its stream key")
    func secretsStayHidden() {
        let source = Pipeline.Source(SourceID("1"), .rtmp(streamKeys: [.inline("hunter2")]))
        var dumped = ""
        dump(source, to: &dumped)
        for text in ["\(source)", String(reflecting: source), dumped, "\(Secret.inline("hunter2"))"] {
            #expect(!text.contains("hunter2"))
        }
        #expect("\(Secret.env("KEY"))" == "env KEY")
    }
}
