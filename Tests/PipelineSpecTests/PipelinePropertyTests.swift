import MediaTypes
import PipelineSpec
import TestSupport
import Testing

@Suite("The pipeline file: any bytes give a pipeline or errors with location and fix, without a trap")
struct PipelinePropertyTests {
    /// Checks that the result is a pipeline or at least one error, and that each problem has a location and a fix.
    private func check(_ bytes: [UInt8], _ overrides: [SpecOverride] = []) {
        let report = Pipeline.parse(bytes, overrides: overrides)
        #expect((report.pipeline == nil) == !report.mistakes.isEmpty)
        for mistake in report.mistakes + report.warnings where mistake.flag == nil {
            #expect(mistake.line > 0 && mistake.column > 0 && !mistake.what.isEmpty && !mistake.fix.isEmpty)
        }
        let text = report.text(file: "f")
        #expect(
            text.split(separator: "\n").count <= report.mistakes.count + report.warnings.count + 1,
            "a mistake is one line")
        if let pipeline = report.pipeline { #expect(!pipeline.summary().isEmpty) }
    }

    @Test("random bytes give a pipeline or errors, without a trap", arguments: [1, 2, 3] as [UInt64])
    func randomBytes(seed: UInt64) {
        var generator = TestRandom(state: seed)
        let alphabet = Array("{}[]\",:\\u0123e-+.tfn \n\u{0}é😀".utf8) + [0xff, 0xc0, 0xed]
        for _ in 0..<(Proof.isFull ? 3000 : 1000) {
            let count = Int.random(in: 0...40, using: &generator)
            self.check((0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 })
        }
    }

    @Test(
        "a document with bytes replaced, removed or doubled, or truncated, gives a pipeline or errors, without a trap",
        arguments: [11, 12, 13] as [UInt64])
    func mutatedBytes(seed: UInt64) {
        var generator = TestRandom(state: seed)
        let example = Array(Documents.full[0].utf8)
        for _ in 0..<1500 {
            var bytes = example
            for _ in 0...Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(bytes[index], at: index)
                case 3: bytes[index] = example.randomElement(using: &generator) ?? 0
                default: bytes.removeSubrange(index...)
                }
            }
            self.check(bytes)
        }
    }

    @Test(
        "up to four random keys set to random values with --set give a pipeline or errors, without a trap",
        arguments: [21, 22, 23] as [UInt64])
    func mutatedValues(seed: UInt64) throws {
        var generator = TestRandom(state: seed)
        let root = try #require(JSONParser.parse(Array(Documents.full[0].utf8)).root)
        let paths = Self.paths(root, "")
        let values = [
            "null", "true", "0", "-1", "1", "2", "3", "61", "1919", "1920", "9223372036854775807",
            "-9223372036854775808", "1e300", "0.5",
            "\"\"", "\"1001\"", "\"solo\"", "\"file\"", "offline", "[]", "{}", "[1]", "[{}]", "{\"a\":1}", "😀", "x\ny",
            "\u{0}", "[[[",
        ]
        for _ in 0..<(Proof.isFull ? 3000 : 1000) {
            let overrides = (0...Int.random(in: 0...3, using: &generator)).map { _ in
                SpecOverride(
                    path: paths.randomElement(using: &generator) ?? "",
                    value: values.randomElement(using: &generator) ?? "")
            }
            self.check(Array(Documents.full[0].utf8), overrides)
        }
    }

    private static func paths(_ node: JSONNode, _ path: String) -> [String] {
        switch node.content {
        case .array(let elements):
            [path] + elements.enumerated().flatMap { self.paths($0.element, "\(path)[\($0.offset)]") }
        case .object(let members):
            [path] + members.flatMap { self.paths($0.value, path.isEmpty ? $0.key : "\(path).\($0.key)") }
        default: [path]
        }
    }

    @Test("a file with 192 errors reports all of them")
    func manyMistakes() {
        let sources = (0..<64).map { "{\"uid\": \($0 % 3), \"streamKey\": \"k\", \"x\($0)\": 1}" }.joined(
            separator: ",")
        let report = Pipeline.parse("{\"sources\": [\(sources)]}")
        #expect(
            report.mistakes.count == 64 + 61 + 63 + 3 + 1, "unknown keys, uids, stream keys, missing keys, maxSources")
    }
}
