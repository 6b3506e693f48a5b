import MediaTypes
import PipelineSpec
import Testing

@Suite("Document edits: changes that commands made, applied to a newer version of the pipeline file")
struct DocumentEditTests {
    private static func node(_ text: String) throws -> JSONNode {
        try #require(JSONParser.parse(Array(text.utf8)).root, "\(text)").bare
    }

    @Test(
        "the edits computed between two JSON documents turn the first document into the second",
        arguments: [
            ("{}", #"{"a":1}"#, ["a"]), (#"{"a":1}"#, "{}", ["a"]), (#"{"a":{"b":1}}"#, #"{"a":{"b":2}}"#, ["a.b"]),
            (#"{"a":[1,2]}"#, #"{"a":[1,3]}"#, ["a"]),
            (
                #"{"sources":[{"uid":"1"},{"uid":2}]}"#, #"{"sources":[{"uid":"1","volume":5},{"uid":2}]}"#,
                ["sources[1/main].volume"]
            ),
            (
                #"{"sources":[{"uid":"1"},{"uid":"1","streamType":"sub"}]}"#, #"{"sources":[{"uid":"1"},{"uid":"3"}]}"#,
                ["sources[3/main]", "sources[1/sub]"]
            ),
            (#"{"outputs":[{"type":"hls"}]}"#, #"{"outputs":[{"type":"hls"},{"outputId":"a"}]}"#, ["outputs[a]"]),
            // Elements with equal ids, or in another order, give one edit of the whole list.
            (#"{"outputs":[{"type":"rtmp"}]}"#, #"{"outputs":[{"type":"rtmp"},{"type":"rtmp"}]}"#, ["outputs"]),
            (
                #"{"scenes":[{"sceneId":"a"},{"sceneId":"b"}]}"#, #"{"scenes":[{"sceneId":"b"},{"sceneId":"a"}]}"#,
                ["scenes"]
            ),
            ("{}", #"{"scenes":[{"sceneId":"a"}]}"#, ["scenes"]),
        ] as [(String, String, [String])])
    func between(one: String, other: String, names: [String]) throws {
        let (base, target) = (try Self.node(one), try Self.node(other))
        let edits = DocumentEdit.between(base, target)
        #expect(edits.map(\.name) == names)
        var made = base
        for edit in edits {
            let isApplied = made.apply(edit)
            #expect(isApplied)
        }
        #expect(made.canonical == target.canonical)
        #expect(DocumentEdit.between(target, target).isEmpty)
    }

    @Test("a document edit finds its source by id after others were inserted, and is not applied if the source is gone")
    func moved() throws {
        let edit = DocumentEdit([.key("sources"), .element("2/main"), .key("volume")], .integer(40))
        var file = try Self.node(#"{"sources":[{"uid":"9"},{"uid":"2"}]}"#)
        let isFound = file.apply(edit)
        #expect(isFound)
        #expect(file[path: edit.path] == .integer(40))
        var other = try Self.node(#"{"sources":[{"uid":"9"}]}"#)
        let before = other
        let isApplied = other.apply(edit)
        #expect(!isApplied)
        #expect(other == before)
    }

    @Test(
        "each step of a document edit's path is equal after it is written and read again",
        arguments: ["a", "#a", "\\a", "", "#", "a#b"])
    func steps(key: String) {
        for step in [DocumentEdit.Step.key(key), .element(key)] { #expect(DocumentEdit.Step(text: step.text) == step) }
    }

    @Test(
        "document edits contain stream keys only encrypted; applied to the file's document they give the new title and source"
    )
    func document() throws {
        let file = #"""
            {"room":{"roomId":"1"},"sources":[{"uid":"1","streamKey":"file-key"}],
            "scenes":[{"sceneId":"solo","layout":"solo","uids":["1"]}],"outputs":[{"type":"hls","path":"out"}]}
            """#
        let base = try RoomDocument.read(Array(file.utf8)).get().document
        let patch = #"""
            {"room":{"title":"New"},"sources":[{"uid":"1","streamKey":"file-key"},{"uid":"2","streamKey":"new-key"}]}
            """#
        let next = try base.patched(Array(patch.utf8)).get().document
        let edits = next.edits(from: base) { "sealed(\($0.count))" }
        #expect(edits.map(\.name) == ["room.title", "sources[2/main]"])
        let text = edits.compactMap { $0.value?.text() }.joined()
        #expect(!text.contains("new-key") && !text.contains("file-key") && text.contains("sealed(7)"))
        let (again, refused) = base.applying(edits, revision: 8)
        #expect(refused.isEmpty)
        #expect(again.revision == 8)
        #expect(again.pipeline.room.title == "New")
        #expect(again.pipeline.sources.map(\.id.uid) == ["1", "2"])
    }

    @Test("a document edit that names a missing scene or source is refused, and the other edits apply")
    func refusedAlone() throws {
        let file = #"""
            {"room":{"roomId":"1"},"sources":[{"uid":"1","streamKey":"k"}],
            "scenes":[{"sceneId":"solo","layout":"solo","uids":["1"]}],"outputs":[{"type":"hls","path":"out"}]}
            """#
        let base = try RoomDocument.read(Array(file.utf8)).get().document
        let (document, refused) = base.applying(
            [
                DocumentEdit([.key("room"), .key("title")], .string("T")),
                DocumentEdit([.key("program"), .key("scene")], .string("gone")),
                DocumentEdit([.key("sources"), .element("5/main"), .key("volume")], .integer(3)),
            ], revision: 3)
        #expect(document.pipeline.room.title == "T")
        #expect(refused.map(\.edit.name) == ["program.scene", "sources[5/main].volume"])
    }
}
