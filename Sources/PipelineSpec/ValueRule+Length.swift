import MediaTypes

extension ValueRule where Value == Length {
    private static let percent = "^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)%$"

    /// A rule for a length: pixels as an integer (an odd number is lowered to even with a warning), or percent of the
    /// canvas as a string.
    static func length(_ range: ClosedRange<Int>) -> ValueRule {
        let pixels = ValueRule<Int>.evened(range)
        let share: JSONNode = .object([JSONMember("type", "string"), JSONMember("pattern", .string(Self.percent))])
        let fix =
            "write pixels from \(SpecText.grouped(range.lowerBound)) to \(SpecText.grouped(range.upperBound)), "
            + "or percent such as \"50%\""
        return ValueRule(
            schema: [JSONMember("anyOf", .array([.object(pixels.schema), share]))],
            read: { node, path, log in
                switch node.content {
                case .integer: return pixels.read(node, path, &log).map { .pixels($0) }
                case .string(let text):
                    if let length = Length(percent: text) { return length }
                    log.mistake(path, "\(SpecText.quoted(text)) is not a length", fix: fix, at: node.position)
                default: log.mistake(path, "is \(node.kind), not a length", fix: fix, at: node.position)
                }
                return nil
            },
            write: { length in
                switch length {
                case .pixels(let pixels): .integer(pixels)
                case .share: .string(length.description)
                }
            })
    }

    /// A rule for a percentage as a string, for a part of a video whose size is not known yet.
    static var share: ValueRule {
        let fix = "write percent of the video, such as \"12.5%\""
        return ValueRule(
            schema: [ValueRule<String>.type("string"), JSONMember("pattern", .string(Self.percent))],
            write: { .string($0.description) },
            parse: { node throws(Problem) in
                guard let text = node.string else { throw node.isNot("a percentage", fix: fix) }
                if let length = Length(percent: text) { return length }
                throw Problem("\(SpecText.quoted(text)) is not a percentage", fix: fix)
            })
    }
}

extension ValueRule where Value == Int {
    /// A rule for a number from 0 to 1, which is stored in percent, rounded to the nearest integer.
    static var fraction: ValueRule {
        ValueRule(
            schema: [self.type("number"), JSONMember("minimum", 0), JSONMember("maximum", 1)],
            write: { $0 % 100 == 0 ? .integer($0 / 100) : JSONNode(.number(Double($0) / 100)) },
            parse: { node throws(Problem) in
                let fix = "write a number from 0 to 1, such as 0.8"
                switch node.content {
                case .integer(let number) where (0...1).contains(number): return Int(number) * 100
                case .number(let number) where number >= 0 && number <= 1: return Int(number * 100 + 0.5)
                case .integer, .number: throw Problem("\(node.text()) is out of range", fix: fix)
                default: throw node.isNot("a number", fix: fix)
                }
            })
    }
}

extension ValueRule where Value == String {
    /// A rule for the path of a local image file; other URLs than `file:///` are rejected.
    static var imagePath: ValueRule {
        self.path.refined { text throws(Problem) in
            if text.hasPrefix("file:///") { return String(text.dropFirst(7)) }
            guard text.contains("://") else { return text }
            throw Problem(
                "\(SpecText.quoted(text)) is a URL, and images are not downloaded",
                fix: "save the image on this machine and write its path")
        }
    }
}
