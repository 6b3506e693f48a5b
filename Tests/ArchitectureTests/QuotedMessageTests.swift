import Testing

@Suite("Troubleshooting: messages quoted in the guide exist in the sources")
struct QuotedMessageTests {
    /// Parts of the messages quoted in the first column of the guide's tables. `…` in a message is a value and separates its parts.
    private static let fragments: [String] = {
        let guide = SourceTree.text("Sources/tandem/Documentation.docc/Troubleshooting.md")
        let cells = guide.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { row in
            row.split(separator: "|").first
        }
        // Messages of orchestrators are not in the sources.
        let own = cells.filter { !$0.contains("Kubernetes:") && !$0.contains("Swarm:") }
        return own.flatMap { cell in
            cell.matches(of: /"([^"]+)"/).flatMap { $0.output.1.split(separator: "…").map { String($0) } }
        }
    }()

    @Test("the parts of each message quoted in Troubleshooting.md occur in the Swift sources")
    func quoted() {
        let sources = SourceTree.swiftFiles(in: "Sources").map { $0.lines.joined(separator: "\n") }
        #expect(Self.fragments.count >= 15, "\(Self.fragments)")
        for fragment in Self.fragments {
            #expect(sources.contains { $0.contains(fragment) }, "\(fragment)")
        }
    }
}
