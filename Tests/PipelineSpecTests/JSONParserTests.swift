import MediaTypes
import Testing

@Suite("JSON parser: RFC 8259")
struct JSONParserTests {
    private func parse(_ text: String) -> JSONParser.Document { JSONParser.parse(Array(text.utf8)) }

    @Test(
        "every kind of JSON value is parsed, and written compactly with normalized numbers and escapes",
        arguments: [
            ("null", "null"), (" true ", "true"), ("\u{feff}false", "false"), ("0", "0"), ("-0", "0"), ("-12", "-12"),
            ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
            ("3e1", "30"),
            ("30.0", "30"), ("0.5", "0.5"), ("-1.5E-1", "-0.15"), ("[]", "[]"), ("{}", "{}"),
            ("[1,[2],{\"a\":3}]", "[1,[2],{\"a\":3}]"),
            ("{\"b\":1,\"a\":2}", "{\"b\":1,\"a\":2}"), (#""\u00e9\ud83d\ude00\n\/""#, #""é😀\n/""#),
            (#""\u0000\u001f\u007f""#, #""\u0000\u001f\u007f""#),
        ])
    func readsValues(text: String, compact: String) {
        let document = self.parse(text)
        #expect(document.mistakes.isEmpty)
        #expect(document.root?.text() == compact)
    }

    @Test(
        "invalid JSON gives one error with the line and column of the fault, what is wrong and a fix",
        arguments: [
            ("", 1, 1, "empty"), ("{\n  \"a\": 1,\n}", 3, 1, "expected a key, found }"),
            ("[1,]", 1, 4, "expected a value, found ]"),
            ("[1 2]", 1, 4, "expected a comma or ], found 2"), ("{\"a\" 1}", 1, 6, "colon"),
            ("{a: 1}", 1, 2, "expected a key, found a"),
            ("{'a': 1}", 1, 2, "expected a key, found '"), ("// x\n{}", 1, 1, "expected a JSON value, found /"),
            ("{} {}", 1, 4, "follows the end"),
            ("01", 1, 1, "not a JSON number"), ("-", 1, 1, "not a JSON number"),
            ("1.", 1, 1, "no digits after its decimal point"),
            ("1e+", 1, 1, "exponent"),
            ("1e999", 1, 1, "too large"), ("+1", 1, 1, "found +"), (".5", 1, 1, "found ."),
            ("nul", 1, 1, "found n"),
            ("\"a", 1, 1, "not terminated"), ("\"a\nb\"", 1, 3, "control character"),
            (#""\x""#, 1, 2, "no such escape"),
            (#""\ud800""#, 1, 2, "is not a character"), (#""\udc00""#, 1, 2, "is not a character"),
            (#""\ud800\u0041""#, 1, 2, "is not a character"),
            (#""\u12g4""#, 1, 2, "is not a character"), ("[", 1, 2, "the text ends"),
            ("{\"a\":", 1, 6, "the text ends"),
            ("{\"a\":1", 1, 7, "expected a comma or }, found the end of the text"), ("é", 1, 1, "byte 195"),
            ("[\"é😀\", x]", 1, 8, "found x"), ("NaN", 1, 1, "found N"),
        ])
    func refusesWhatIsNoJSON(text: String, line: Int, column: Int, what: String) throws {
        let document = self.parse(text)
        #expect(document.root == nil)
        let mistake = try #require(document.mistakes.last)
        #expect(document.mistakes.count == 1)
        #expect(mistake.line == line && mistake.column == column, "\(mistake)")
        #expect(mistake.what.contains(what), "\(mistake.what)")
        #expect(!mistake.fix.isEmpty)
    }

    @Test(
        "invalid UTF-8 in a string is refused",
        arguments: [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]])
    func refusesInvalidUTF8(bytes: [Int]) {
        let document = JSONParser.parse([0x22] + bytes.map { UInt8($0) } + [0x22])
        #expect(document.root == nil)
        #expect(document.mistakes.map(\.what) == ["the string is not UTF-8"])
    }

    @Test("every parsed value and key has its line and column, counted in Unicode scalars")
    func knowsPositions() throws {
        let root = try #require(self.parse("{\n\t\"é\": [1,\r\n  {\"k\": \"😀\", \"l\": 2}]\n}").root)
        #expect(root.position == .text(line: 1, column: 1))
        guard case .object(let members) = root.content, case .array(let elements) = members[0].value.content,
            case .object(let inner) = elements[1].content
        else {
            Issue.record("the tree has another shape")
            return
        }
        #expect(members[0].position == .text(line: 2, column: 2))
        #expect(members[0].value.position == .text(line: 2, column: 7))
        #expect(elements.map(\.position) == [.text(line: 2, column: 8), .text(line: 3, column: 3)])
        #expect(inner.map(\.position) == [.text(line: 3, column: 4), .text(line: 3, column: 14)])
        #expect(inner.map(\.value.position) == [.text(line: 3, column: 9), .text(line: 3, column: 19)])
    }

    @Test("a duplicate key is an error with its path and column; the first value is kept and parsing continues")
    func duplicateKeys() {
        let document = self.parse("{\"a\": {\"b\": 1, \"b\": 2}, \"\\u0061\": 3, \"c d\": [{\"e\":1,\"e\":1}]}")
        #expect(document.mistakes.map(\.path) == ["a.b", "a", "[\"c d\"][0].e"])
        #expect(document.mistakes.map(\.column) == [16, 25, 53])
        #expect(document.mistakes.first?.what == "duplicate key, first on line 1, column 8")
        #expect(document.root?.text() == "{\"a\":{\"b\":1},\"c d\":[{\"e\":1}]}")
    }

    @Test("nesting over 64 levels, texts over 4 MiB and a number of 513 digits are refused")
    func limits() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(self.parse(nested(64)).root != nil)
        #expect(self.parse(nested(65)).mistakes.map(\.what) == ["nested deeper than 64 levels"])
        #expect(self.parse(String(repeating: "{\"a\":", count: 100_000)).root == nil)
        let spaces = [UInt8](repeating: 0x20, count: JSONParser.maxBytes - 1)
        #expect(JSONParser.parse(spaces + [0x31]).root?.integer == 1)
        #expect(JSONParser.parse(spaces + [0x31, 0x20]).root == nil)
        #expect(self.parse("1" + String(repeating: "0", count: 512)).root == nil)
    }

    @Test("documents written compact or pretty are parsed back to equal values")
    func roundTrip() throws {
        for text in Documents.full {
            let root = try #require(self.parse(text).root)
            for pretty in [true, false] {
                let again = try #require(self.parse(root.text(pretty: pretty)).root)
                #expect(again.text() == root.text())
            }
        }
    }
}
