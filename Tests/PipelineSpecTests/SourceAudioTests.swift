import MediaTypes
import PipelineSpec
import Testing

@Suite("Pipeline file: noise suppression and automatic gain of a source")
struct SourceAudioTests {
    /// ``Documents/room`` with these members of `audio` in the first source.
    private static func text(_ audio: String) -> String {
        Documents.room.replacing(#""streamKey": "hunter2a""#, with: #""streamKey": "hunter2a", "audio": { \#(audio) }"#)
    }

    @Test("by default neither is used; both are read from the file")
    func values() throws {
        let plain = try Pipeline.parse(Documents.room).result.get().sources[0].audio
        #expect(plain == Pipeline.SourceAudio() && plain.noiseSuppression == .off && plain.autoGain == .off)
        let both = try Pipeline.parse(
            Self.text(#""noiseSuppression": "model", "noiseModel": "m.rnnn", "autoGain": "speech""#)
        ).result.get().sources[0].audio
        #expect(both.noiseSuppression == .model && both.noiseModel == "m.rnnn" && both.autoGain == .speech)
    }

    @Test(
        "a missing model, a model that is not used, and other words are errors with a path and a fix",
        arguments: [
            (#""noiseSuppression": "model""#, "sources[0].audio.noiseModel", "is missing"),
            (#""noiseModel": "m.rnnn""#, "sources[0].audio.noiseModel", "only with noiseSuppression: model"),
            (#""noiseSuppression": "fft", "noiseModel": "m""#, "sources[0].audio.noiseModel", "only with"),
            (#""noiseSuppression": "strong""#, "sources[0].audio.noiseSuppression", "strong"),
            (#""autoGain": true"#, "sources[0].audio.autoGain", "is a boolean"),
        ])
    func mistakes(audio: String, path: String, what: String) {
        let mistakes = Pipeline.parse(Self.text(audio)).mistakes
        #expect(mistakes.map(\.path) == [path], "\(mistakes)")
        #expect(mistakes.allSatisfy { $0.what.contains(what) && !$0.fix.isEmpty }, "\(mistakes)")
    }

    @Test("a model that this machine cannot use is an error, a missing filter is a warning")
    func machine() {
        var checks = SpecChecks(library: { part in
            part == .noiseModels ? SpecChecks.Problem("no arnndn", fix: "write off") : nil
        })
        checks.noiseModel = { $0 == "good" ? nil : SpecChecks.Problem("the model \($0) is damaged", fix: "replace it") }
        let bad = Pipeline.parse(Self.text(#""noiseSuppression": "model", "noiseModel": "bad""#), checks: checks)
        #expect(bad.mistakes.map(\.path) == ["sources[0].audio.noiseModel"])
        let good = Pipeline.parse(Self.text(#""noiseSuppression": "model", "noiseModel": "good""#), checks: checks)
        #expect(good.mistakes.isEmpty && good.warnings.map(\.path) == ["sources[0].audio.noiseSuppression"])
        #expect(Pipeline.parse(Self.text(#""noiseSuppression": "fft""#), checks: checks).warnings.isEmpty)
    }

    @Test("both can change while the room runs, and the model is a file that a request needs permission to name")
    func liveChange() throws {
        func document(_ text: String) throws -> RoomDocument {
            try RoomDocument.read(Array(text.utf8), overrides: []).get().document
        }
        let change = try DocumentChange(
            from: try document(Documents.room), to: try document(Self.text(#""noiseSuppression": "fft""#)))
        #expect(change.isChange && change.paths == ["sources[0].audio.noiseSuppression"])
        let root = try #require(
            JSONParser.parse(Array(Self.text(#""noiseSuppression": "model", "noiseModel": "m""#).utf8)).root)
        let refused = ResourceGrants([]) { _ in false }.mistakes(in: root).filter { $0.path.contains("noiseModel") }
        #expect(refused.map(\.path) == ["sources[0].audio.noiseModel"])
        #expect(refused.first?.fix.contains("mediaDirectory") == true)
    }
}
