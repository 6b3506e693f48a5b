import PipelineSpec
import Testing

@Suite("Scenes of a running room, stored by id and revision")
struct SceneStoreTests {
    private static func scene(_ revision: Int, uids: [String] = ["a"], id: String = "pk") -> Scene {
        var scene = Scene(id, .layout(.grid, uids: uids))
        scene.revision = revision
        return scene
    }

    private static func store(_ revision: Int) -> SceneStore {
        SceneStore([Self.scene(revision), Scene("solo", .panes([]))])
    }

    @Test("a scene with a newer revision replaces the stored one; the same revision and content changes nothing")
    func newer() throws {
        let store = Self.store(3)
        #expect(try store.judge(Self.scene(4, uids: ["b"]), hasRevision: true).change == .replaced)
        #expect(try store.judge(Self.scene(4), hasRevision: true).change == .replaced)
        let same = try store.judge(Self.scene(3), hasRevision: true)
        #expect(same.change == .unchanged && same.scene == store["pk"])
    }

    @Test("a scene with an older revision, or with the same revision and other content, is superseded")
    func older() {
        let store = Self.store(3)
        #expect(throws: SceneStore.Refusal.superseded(by: 3)) { try store.judge(Self.scene(2), hasRevision: true) }
        #expect(throws: SceneStore.Refusal.superseded(by: 3)) {
            try store.judge(Self.scene(3, uids: ["b"]), hasRevision: true)
        }
    }

    @Test("a scene without a revision gets the next one, unless its content is unchanged")
    func unnumbered() throws {
        let store = Self.store(3)
        let changed = try store.judge(Self.scene(0, uids: ["b"]), hasRevision: false)
        #expect(changed.change == .replaced && changed.scene.revision == 4)
        let same = try store.judge(Self.scene(0), hasRevision: false)
        #expect(same.change == .unchanged && same.scene.revision == 3)
    }

    @Test("a request with a removed scene's old revision is refused; one without a revision adds the scene again")
    func removed() throws {
        var store = Self.store(3)
        #expect(store.remove("pk") == Self.scene(3))
        #expect(store.remove("pk") == nil && store["pk"] == nil)
        #expect(throws: SceneStore.Refusal.superseded(by: 3)) { try store.judge(Self.scene(3), hasRevision: true) }
        let next = try store.judge(Self.scene(0), hasRevision: false)
        #expect(next.change == .added && next.scene.revision == 4)
        store.put(next.scene)
        #expect(store.scenes.map(\.sceneID) == ["solo", "pk"])
    }

    @Test("a scene from a changed pipeline document gets a revision above those of commands and removals")
    func fromTheDocument() throws {
        var store = Self.store(7)
        store.putNext(Self.scene(0, uids: ["b"]))
        #expect(store["pk"] == Self.scene(8, uids: ["b"]))
        #expect(throws: SceneStore.Refusal.superseded(by: 8)) { try store.judge(Self.scene(7), hasRevision: true) }
        store.remove("pk")
        store.putNext(Self.scene(2))
        #expect(store["pk"]?.revision == 9)
        store.putNext(Self.scene(20))
        store.putNext(Self.scene(3, id: "new"))
        #expect(store["pk"]?.revision == 20 && store["new"]?.revision == 3)
    }

    @Test("a replaced scene keeps its position in the list; at the limit, new scenes are refused but not replacements")
    func places() throws {
        var store = Self.store(1)
        store.put(Self.scene(2, uids: ["b"]))
        #expect(store.scenes.map(\.sceneID) == ["pk", "solo"] && store["pk"]?.revision == 2)
        for index in store.scenes.count..<SceneStore.limit { store.put(Self.scene(0, id: "s\(index)")) }
        #expect(throws: SceneStore.Refusal.full) { try store.judge(Self.scene(0, id: "more"), hasRevision: true) }
        #expect(try store.judge(Self.scene(3), hasRevision: true).change == .replaced)
    }
}

@Suite("The body of PUT /v1/program")
struct ProgramRequestTests {
    private static func parse(_ text: String) -> Result<ProgramRequest, SpecReport.Refusal> {
        ProgramRequest.parse(Array(text.utf8))
    }

    @Test("a PUT /v1/program body names its scene as `scene` or `sceneId`, optionally with a date and a transition")
    func reads() throws {
        #expect(try Self.parse(#"{"scene":"pk"}"#).get() == Self.parse(#"{"sceneId":"pk"}"#).get())
        let request = try Self.parse(
            #"{"sceneId":"pk","at":"2026-01-31T20:00:00Z","transition":{"type":"slide","direction":"up"}}"#
        ).get()
        #expect(request.sceneID == "pk" && request.at == "2026-01-31T20:00:00Z")
        #expect(request.transition?.kind == .slide && request.transition?.direction == .up)
        #expect(try Self.parse(#"{"sceneId":"pk"}"#).get().transition == nil)
    }

    @Test(
        "an invalid PUT /v1/program body is refused with path, what is wrong and a fix",
        arguments: [
            ("", "", "the text is empty"), ("{}", "sceneId", "is missing"),
            (#"{"scen":"pk"}"#, "scen", #"unknown key "scen""#),
            (#"{"scene":7}"#, "scene", "is an integer, not a string"),
            (#"{"scene":"a","sceneId":"b"}"#, "scene", "cannot be combined with sceneId"),
            (#"{"scene":"a","at":5}"#, "at", "is an integer, not a string"),
            (#"{"scene":"a","transition":{"type":"wipe"}}"#, "transition.type", #""wipe" is not allowed here"#),
            ("scene=pk", "", "expected a JSON value, found s"),
        ])
    func mistakes(text: String, path: String, what: String) {
        guard case .failure(let refusal) = Self.parse(text) else { Issue.record("was read"); return }
        #expect(refusal.mistakes.first?.path == path)
        #expect(refusal.mistakes.first?.what == what)
        #expect(refusal.mistakes.allSatisfy { !$0.fix.isEmpty })
    }
}
