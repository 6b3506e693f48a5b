import Testing

@Suite("Exit codes in the help text and the guide")
struct ExitCodeTests {
    private static func numbers(_ text: some StringProtocol) -> Set<String> {
        Set(text.split { !$0.isNumber }.map { String($0) })
    }

    @Test(
        "the help text and the guide contain the number of every ExitStatus case after the words Exit codes",
        arguments: ["Sources/tandem/Tandem.swift", "Sources/tandem/Documentation.docc/WorkersLife.md"])
    func named(path: String) throws {
        let codes = SourceTree.text("Sources/tandem/ExitStatus.swift").matches(of: /case [a-zA-Z]+ = ([0-9]+)/)
        #expect(codes.count >= 10)
        let text = SourceTree.text(path)
        let start = try #require(text.firstRange(of: "Exit codes"))
        let named = Self.numbers(text[start.lowerBound...])
        for code in codes { #expect(named.contains(String(code.output.1)), "\(code.output.1)") }
    }
}
