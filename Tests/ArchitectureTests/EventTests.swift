import Testing

@Suite("Events: what rooms tell stands in the guide, and what the page looks for is told")
struct EventTests {
    /// Types that stand whole where they are told.
    private static let told: Set<String> = {
        let text = SourceTree.swiftFiles(in: "Sources").flatMap(\.lines).joined(separator: "\n")
        return Set(text.matches(of: /emit\(\s*"([a-z]+\.[A-Za-z_]+)"/).map { String($0.output.1) })
    }()

    @Test("the guide names each of them")
    func guide() {
        let guide = SourceTree.text("Sources/tandem/Documentation.docc/Events.md")
        #expect(Self.told.count > 60)
        for type in Self.told {
            let family = type.prefix { $0 != "." }
            #expect(guide.contains("`\(type)`") || guide.contains("`\(family).*`"), "\(type)")
        }
    }

    @Test("what the page's timeline marks is told")
    func timeline() throws {
        let script = SourceTree.text("Sources/Control/Page/timeline.js")
        let line = try #require(script.firstMatch(of: /const trouble = (.+)/)).output.1
        let families = line.matches(of: /([a-z]+)\\\.(?:\(([a-z_|]+)\)|([a-z_]*))/)
        #expect(families.count >= 5)
        for family in families {
            let words = family.output.2 ?? family.output.3 ?? ""
            for word in words.split(separator: "|", omittingEmptySubsequences: false) {
                #expect(Self.told.contains("\(family.output.1).\(word)"), "\(family.output.1).\(word)")
            }
        }
    }
}
