import PipelineSpec
import Testing

@Suite("Pipeline file: settings of offline jobs")
struct OfflineSpecTests {
    private static func document(_ members: String) -> String {
        Documents.offline.replacing(#""clock": "offline","#, with: #""clock": "offline", \#(members)"#)
    }

    private static func read(_ text: String) throws -> RoomDocument {
        try RoomDocument.read(Array(text.utf8), overrides: []).get().document
    }

    @Test("offline.threads is not limited by default and can be 1 to 64")
    func threads() throws {
        #expect(try Pipeline.parse(Documents.offline).result.get().offline.threads == nil)
        for count in [1, 64] {
            let report = Pipeline.parse(Self.document(#""offline": { "threads": \#(count) },"#))
            #expect(try report.result.get().offline.threads == count)
        }
        for word in ["0", "65", "1.5", "null", "\"2\""] {
            let report = Pipeline.parse(Self.document(#""offline": { "threads": \#(word) },"#))
            #expect(report.mistakes.map(\.path) == ["offline.threads"], "\(word)")
        }
    }

    @Test("offline.threads is refused in a live room, where it has no effect")
    func live() {
        let text = Documents.room.replacing(#""control": {"#, with: #""offline": { "threads": 2 }, "control": {"#)
        let mistakes = Pipeline.parse(text).mistakes
        #expect(mistakes.map(\.path) == ["offline.threads"])
        #expect(mistakes.map(\.what) == ["has no effect, because the clock is live"])
        #expect(mistakes.map(\.fix) == [#"remove it, or add "clock": "offline""#])
    }

    @Test("a running job cannot change offline.threads")
    func restart() throws {
        let (before, after) = (
            try Self.read(Documents.offline), try Self.read(Self.document(#""offline": { "threads": 2 },"#))
        )
        let refusal = #expect(throws: DocumentChange.Refusal.self) {
            try DocumentChange(from: before, to: after)
        }
        guard case .needsRestart(let mistakes)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(mistakes.map(\.path) == ["offline.threads"])
    }
}
