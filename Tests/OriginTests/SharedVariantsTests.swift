import Origin
import Testing

@Suite("SharedVariants: renderings of one playlist, shared between requests")
struct SharedVariantsTests {
    /// Requests a form, and makes it.
    private struct Asker {
        var forms = SharedVariants<String, String>(most: 3, mostBytes: 10)
        /// Forms made while the lock would have been held.
        var made: [String] = []

        mutating func ask(_ key: String, bytes: Int = 1, isForAll: Bool = false) -> String? {
            var isMade = false
            let form = self.forms.form(key, isForAll: isForAll) {
                isMade = true
                return (form: key.uppercased(), bytes: bytes)
            }
            if isMade { self.made.append(key) }
            return form
        }
    }

    @Test(
        "each variant of a playlist is rendered once; above the limit of variants only the one for all clients is rendered"
    )
    func most() {
        var asker = Asker()
        for key in ["a", "b", "c", "a"] { #expect(asker.ask(key) == key.uppercased()) }
        #expect(asker.ask("d") == nil)
        #expect(asker.ask("a") == "A")
        for _ in 0..<2 { #expect(asker.ask("all", isForAll: true) == "ALL") }
        #expect(asker.made == ["a", "b", "c", "all"])
    }

    @Test("after a playlist variant has exceeded the byte limit, only the variant for all clients is rendered")
    func mostBytes() {
        var asker = Asker()
        #expect(asker.ask("a", bytes: 6) == "A")
        #expect(asker.ask("b", bytes: 5) == "B")
        for key in ["b", "c"] { #expect(asker.ask(key) == nil) }
        #expect(asker.ask("all", bytes: 99, isForAll: true) == "ALL")
        #expect(asker.ask("a") == "A")
        #expect(asker.made == ["a", "b", "all"])
    }

    @Test("a playlist variant that cannot be rendered does not count against the limits")
    func none() {
        var forms = SharedVariants<Int, Int>(most: 1, mostBytes: 1)
        let none = forms.form(1, isForAll: false) { nil }
        let first = forms.form(2, isForAll: false) { (form: 2, bytes: 1) }
        #expect(none == nil && first == 2)
    }
}
