import MediaTypes

/// A rule for a JSON value: how it is parsed, how it is written as a default, and its JSON Schema.
struct ValueRule<Value>: Sendable {
    /// Keywords of the JSON Schema.
    let schema: [JSONMember]
    /// Parses the value; returns `nil` after it has reported a mistake at `path`.
    let read: @Sendable (_ node: JSONNode, _ path: String, _ log: inout SpecLog) -> Value?
    /// The value as JSON for the schema's `default`; `nil` if the schema has none.
    let write: @Sendable (Value) -> JSONNode?

    init(
        schema: [JSONMember], read: @escaping @Sendable (JSONNode, String, inout SpecLog) -> Value?,
        write: @escaping @Sendable (Value) -> JSONNode? = { _ in nil }
    ) {
        self.schema = schema
        self.read = read
        self.write = write
    }

    static func type(_ name: String) -> JSONMember { JSONMember("type", .string(name)) }
}

extension ValueRule where Value == Int {
    /// An integer in a range.
    ///
    /// - Parameter beyond: Advice for values above the range, appended to the `fix`; `nil`: none.
    static func integer(_ range: ClosedRange<Int>, beyond: String? = nil) -> ValueRule {
        ValueRule(
            schema: [
                self.type("integer"), JSONMember("minimum", .integer(range.lowerBound)),
                JSONMember("maximum", .integer(range.upperBound)),
            ],
            read: { node, path, log in self.read(node, path, in: range, beyond: beyond, &log) },
            write: { .integer($0) })
    }

    /// An even number: an odd one is a mistake.
    static func even(_ range: ClosedRange<Int>) -> ValueRule {
        ValueRule(
            schema: self.integer(range).schema + [JSONMember("multipleOf", 2)],
            read: { node, path, log in
                guard let number = self.read(node, path, in: range, &log) else { return nil }
                guard !number.isMultiple(of: 2) else { return number }
                log.mistake(
                    path, "\(number) is odd", fix: "use an even number: \(number - 1) or \(number + 1)",
                    at: node.position)
                return nil
            },
            write: { .integer($0) })
    }

    /// An even number: an odd one is lowered by one, with a warning.
    static func evened(_ range: ClosedRange<Int>) -> ValueRule {
        ValueRule(
            schema: self.integer(range).schema,
            read: { node, path, log in
                guard let number = self.read(node, path, in: range, &log) else { return nil }
                guard !number.isMultiple(of: 2) else { return number }
                log.warning(path, "\(number) is odd and was lowered to \(number - 1)", fix: "write \(number - 1)")
                return number - 1
            },
            write: { .integer($0) })
    }

    /// A number of seconds, which may have a fraction, stored as milliseconds.
    static func seconds(upTo most: Int) -> ValueRule {
        ValueRule(
            schema: [
                self.type("number"), JSONMember("minimum", JSONNode(.number(0.001))),
                JSONMember("maximum", .integer(most)),
            ],
            read: { node, path, log in
                let seconds: Double? =
                    switch node.content {
                    case .integer(let number): Double(number)
                    case .number(let number): number
                    default: nil
                    }
                let fix = "write a number of seconds from 0.001 to \(SpecText.grouped(most))"
                guard let seconds else {
                    log.mistake(path, "is \(node.kind), not a number", fix: fix, at: node.position)
                    return nil
                }
                guard seconds >= 0.001, seconds <= Double(most),
                    let milliseconds = Int(exactly: (seconds * 1000).nearest)
                else {
                    log.mistake(path, "\(node.text()) is out of range", fix: fix, at: node.position)
                    return nil
                }
                return milliseconds
            })
    }

    private static func read(
        _ node: JSONNode, _ path: String, in range: ClosedRange<Int>, beyond: String? = nil, _ log: inout SpecLog
    ) -> Int? {
        let bounds = "\(SpecText.grouped(range.lowerBound)) to \(SpecText.grouped(range.upperBound))"
        let fix =
            range.count == 1 ? "write \(range.lowerBound), or remove the key" : "write an integer from \(bounds)"
        guard case .integer(let wide) = node.content else {
            log.mistake(path, "is \(node.kind), not an integer", fix: fix, at: node.position)
            return nil
        }
        guard let number = Int(exactly: wide), range.contains(number) else {
            let more = wide > range.upperBound ? beyond.map { "; \($0)" } ?? "" : ""
            log.mistake(path, "\(wide) is out of range", fix: fix + more, at: node.position)
            return nil
        }
        return number
    }
}

extension Double {
    /// Rounded to the nearest whole number, halves up. For values far below 2^52.
    fileprivate var nearest: Double {
        let half = self + 0.5
        return half - half.truncatingRemainder(dividingBy: 1)
    }
}

extension ValueRule where Value == Bool {
    static var boolean: ValueRule {
        ValueRule(
            schema: [self.type("boolean")],
            read: { node, path, log in
                if case .boolean(let value) = node.content { return value }
                log.mistake(
                    path, "is \(node.kind), not a boolean", fix: "write true or false, without quotes",
                    at: node.position)
                return nil
            },
            write: { JSONNode(.boolean($0)) })
    }
}

extension ValueRule where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    static var choice: ValueRule {
        let words = Value.allCases.map(\.rawValue)
        return ValueRule(
            schema: [JSONMember("enum", .array(words.map { .string($0) }))],
            read: { node, path, log in
                guard let text = node.string else {
                    log.mistake(
                        path, "is \(node.kind), not a string", fix: "write \(SpecText.choice(words))", at: node.position
                    )
                    return nil
                }
                if let value = Value(rawValue: text) { return value }
                let fix =
                    SpecText.nearest(to: text, among: words).map { "did you mean \(SpecText.quoted($0))?" }
                    ?? "write \(SpecText.choice(words))"
                log.mistake(path, "\(SpecText.quoted(text)) is not allowed here", fix: fix, at: node.position)
                return nil
            },
            write: { .string($0.rawValue) })
    }
}

extension ValueRule {
    /// A value of `rule`, or null for `nil`.
    static func nullable<Wrapped>(_ rule: ValueRule<Wrapped>) -> ValueRule where Value == Wrapped? {
        let alternatives: [JSONNode] = [.object(rule.schema), .object([self.type("null")])]
        return ValueRule(
            schema: [JSONMember("anyOf", .array(alternatives))],
            read: { node, path, log in
                if node.content == .null { return .some(nil) }
                return rule.read(node, path, &log).map { .some($0) }
            },
            write: { value in value.map { rule.write($0) } ?? JSONNode(.null) })
    }

    /// An array of values of `rule`.
    ///
    /// - Parameter stand: Replaces an invalid element, so that the others keep their index.
    static func list<Element: Sendable>(of rule: ValueRule<Element>, _ count: ClosedRange<Int>, standIn stand: Element)
        -> ValueRule
    where Value == [Element] {
        ValueRule(
            schema: [
                self.type("array"), JSONMember("items", .object(rule.schema)),
                JSONMember("minItems", .integer(count.lowerBound)),
                JSONMember("maxItems", .integer(count.upperBound)),
            ],
            read: { node, path, log in
                guard case .array(let elements) = node.content else {
                    log.mistake(
                        path, "is \(node.kind), not an array", fix: "put it in square brackets", at: node.position)
                    return nil
                }
                guard count.contains(elements.count) else {
                    let (least, most) = (count.lowerBound, count.upperBound)
                    let several = least == most ? "write \(least) elements" : "write \(least) to \(most) elements"
                    let fix = elements.isEmpty ? "add at least \(least)" : several
                    log.mistake(path, "has \(elements.count) elements", fix: fix, at: node.position)
                    return nil
                }
                var values: [Element] = []
                for (index, element) in elements.enumerated() {
                    let place = "\(path)[\(index)]"
                    log.note(place, at: element.position)
                    values.append(rule.read(element, place, &log) ?? stand)
                }
                return values
            },
            write: { values in
                let nodes = values.compactMap { rule.write($0) }
                return nodes.count == values.count ? .array(nodes) : nil
            })
    }
}
