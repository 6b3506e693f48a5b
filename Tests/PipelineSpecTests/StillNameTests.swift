import MediaTypes
import PipelineSpec
import Testing

@Suite("File names of thumbnails of single sources")
struct StillNameTests {
    private static func output(sprites: Bool = false) -> ImageOutput {
        var output = ImageOutput(path: "out/still.jpg")
        if sprites { output.sprites = ImageOutput.Sprites() }
        return output
    }

    @Test("letters, digits, `-` and `_` of an id stay in the file name, other characters become hex codes")
    func usual() {
        let output = Self.output()
        #expect(output.stillPath(of: SourceID("1001")) == "out/still-1001.jpg")
        #expect(output.stillPath(of: SourceID("1001", .sub)) == "out/still-1001-sub.jpg")
        #expect(output.stillPath(of: SourceID("a_b-c", .sub)) == "out/still-a_b-c-sub.jpg")
        #expect(output.stillPath(of: SourceID("a/b.c")) == "out/still-a.2fb.2ec.jpg")
        #expect(output.stillPath(of: SourceID("1-0")) == "out/still-1-0.jpg")
    }

    @Test("a uid's sub stream and another uid that ends in `-sub` get different file names")
    func second() {
        let output = Self.output()
        let uids = ["a", "a-sub", "a-sub-sub", "a.2dsub", "-sub", "a--sub"]
        let sources = uids.flatMap { uid in SourceID.StreamType.allCases.map { SourceID(uid, $0) } }
        #expect(Set(sources.map { output.stillPath(of: $0) }).count == sources.count)
    }

    @Test("if there are sprite sheets, no source's thumbnail gets the file name of one")
    func sheets() {
        let output = Self.output(sprites: true)
        #expect(output.stillPath(of: SourceID("1-0")) == "out/still-1.2d0.jpg")
        #expect(output.stillPath(of: SourceID("1001")) == "out/still-1001.jpg")
        #expect(output.stillPath(of: SourceID("1-0-0")) == "out/still-1-0-0.jpg")
    }

    @Test("ids too long for a file name get different file names of limited length; 128 ASCII letters stay as they are")
    func long() {
        let output = Self.output()
        let common = String(repeating: "가", count: 40)
        let sources = ["가", "나", "가나"].map { SourceID(common + $0) } + [SourceID(common + "가", .sub)]
        let names = sources.map { String(output.stillPath(of: $0).dropFirst("out/".count)) }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.count <= "still-".utf8.count + 160 + "-sub.jpg".utf8.count }, "\(names)")
        let plain = String(repeating: "a", count: 128)
        #expect(output.stillPath(of: SourceID(plain)) == "out/still-\(plain).jpg")
    }

    @Test(
        "an image output with the path of a source's thumbnail causes a warning if another output writes thumbnails",
        arguments: [true, false])
    func collision(sources: Bool) throws {
        let uid = try #require(Pipeline.parse(Documents.room).pipeline?.sources.first?.id.uid)
        let report = Pipeline.parse(
            Documents.room.replacing(
                #"{ "path": "out" }"#,
                with: """
                    { "path": "out" }, { "type": "image", "outputId": "a", "path": "s/now.jpg", "sources": \(sources) },
                    { "type": "image", "outputId": "b", "path": "./s/now-\(uid).jpg" }
                    """))
        #expect(report.mistakes.isEmpty, "\(report.text(file: "test"))")
        #expect(report.warnings.map(\.path) == (sources ? ["outputs[2].path"] : []))
    }
}
