import Foundation
import MediaTypes
import PipelineSpec
import Testing

@Suite("The guides list the values that a pipeline file may use")
struct GuideWordTests {
    private static let guides = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/tandem/Documentation.docc")

    @Test(
        "every word for an ingest codec, layout, adaption, transition and event type is in its guide",
        arguments: [
            ("Publishing.md", Pipeline.Ingest.Codec.allCases.map(\.rawValue)),
            ("Scenes.md", Layout.allCases.map(\.rawValue)), ("Scenes.md", Adaption.allCases.map(\.rawValue)),
            ("Scenes.md", Transition.Kind.allCases.map(\.rawValue)),
            ("Events.md", EventVocabulary.allCases.map(\.rawValue)),
        ])
    func words(page: String, words: [String]) throws {
        let text = try String(contentsOf: Self.guides.appendingPathComponent(page), encoding: .utf8)
        #expect(!words.isEmpty)
        for word in words { #expect(text.contains("`\(word)`"), "\(page): \(word)") }
    }
}
