import Testing

@Suite("Index of tests by file and function")
struct TestIndexTests {
    @Test(
        "the index of tests finds functions with a @Test attribute, and not helper, nested or commented-out functions")
    func functions() {
        let lines = [
            "    @Test(\"a title\")", "    func first() {", "        func inner() {}", "    }",
            "    @Test(", "        \"a title\",", "        arguments: [1, 2])",
            "    func second(number: Int) async throws {",
            "    private static func helper() {}", "    @Test func third() {}", "    // @Test func old() {}",
        ]
        #expect(TestIndex.functions(of: lines) == ["first", "second", "third"])
    }

    @Test("the index of tests has more than 1,500 names, this test's among them, and not a name that no test has")
    func names() {
        #expect(TestIndex.names.count > 1500)
        #expect(TestIndex.names.contains("TestIndexTests.names"))
        #expect(!TestIndex.names.contains("TestIndexTests.missing"))
    }
}
