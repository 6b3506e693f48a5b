import MediaTypes
import PipelineSpec
import Testing

@Suite("Values of the pipeline file: colors, secrets")
struct ValueTests {
    @Test("a color is #RRGGBB or NERtc's integer")
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

    @Test("a secret is not printed, not even by what holds it")
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
