import MediaTypes

typealias Problem = SpecChecks.Problem

/// A rule for a JSON value: how the value is parsed, how it is written as a default, and its JSON Schema.
struct ValueRule<Value>: Sendable {
    /// The keywords of the value's JSON Schema.
    let schema: [JSONMember]
    /// Parses the value; returns `nil` after it has reported a mistake at `path`.
    let read: @Sendable (_ node: JSONNode, _ path: String, _ log: inout SpecLog) -> Value?
    /// Returns the value as JSON for the schema's `default`; `nil` if the schema has no default.
    let write: @Sendable (Value) -> JSONNode?

    init(
        schema: [JSONMember], read: @escaping @Sendable (JSONNode, String, inout SpecLog) -> Value?,
        write: @escaping @Sendable (Value) -> JSONNode? = { _ in nil }
    ) {
        self.schema = schema
        self.read = read
        self.write = write
    }

    /// Creates a rule that needs only the JSON node. The problem that `parse` throws is reported as a mistake.
    init(
        schema: [JSONMember], write: @escaping @Sendable (Value) -> JSONNode? = { _ in nil },
        parse: @escaping @Sendable (JSONNode) throws(Problem) -> Value
    ) {
        let read: @Sendable (JSONNode, String, inout SpecLog) -> Value? = { node, path, log in
            do throws(Problem) { return try parse(node) } catch {
                log.mistake(path, error.what, fix: error.fix, at: node.position)
                return nil
            }
        }
        self.init(schema: schema, read: read, write: write)
    }

    /// Returns this rule with a further condition on the value.
    func refined(_ check: @escaping @Sendable (Value) throws(Problem) -> Value) -> ValueRule {
        ValueRule(
            schema: self.schema,
            read: { node, path, log in
                guard let value = self.read(node, path, &log) else { return nil }
                do throws(Problem) { return try check(value) } catch {
                    log.mistake(path, error.what, fix: error.fix, at: node.position)
                    return nil
                }
            },
            write: self.write)
    }

    static func type(_ name: String) -> JSONMember { JSONMember("type", .string(name)) }
}

extension ValueRule where Value == Int {
    /// A rule for an integer in a range.
    ///
    /// - Parameters:
    ///   - beyond: Advice for values above the range, appended to the `fix`; `nil`: none.
    ///   - advice: Returns the `fix` for a value outside of the range or with a fraction; `nil`: the range is named.
    static func integer(
        _ range: ClosedRange<Int>, beyond: String? = nil, advice: @escaping @Sendable (Double) -> String? = { _ in nil }
    ) -> ValueRule {
        ValueRule(
            schema: [
                self.type("integer"), JSONMember("minimum", .integer(range.lowerBound)),
                JSONMember("maximum", .integer(range.upperBound)),
            ],
            write: { .integer($0) },
            parse: { node throws(Problem) in
                let bounds = "\(SpecText.grouped(range.lowerBound)) to \(SpecText.grouped(range.upperBound))"
                let fix =
                    range.count == 1
                    ? "write \(range.lowerBound), or remove the key" : "write an integer from \(bounds)"
                if case .number(let number) = node.content, let fix = advice(number) {
                    throw Problem("\(node.text()) is not a whole number", fix: fix)
                }
                guard let wide = node.integer else { throw node.isNot("an integer", fix: fix) }
                guard let number = Int(exactly: wide), range.contains(number) else {
                    let more = wide > range.upperBound ? beyond.map { "; \($0)" } ?? "" : ""
                    throw Problem("\(wide) is out of range", fix: advice(Double(wide)) ?? fix + more)
                }
                return number
            })
    }

    /// A rule for a bit rate in bit/s, or a size in bits. If a number is below the range, but in the range as kilobits,
    /// the `fix` suggests the number of bits.
    static func bits(_ range: ClosedRange<Int>) -> ValueRule {
        .integer(range) { number in
            guard number < Double(range.lowerBound), let bits = Int(exactly: (number * 1000).nearest),
                range.contains(bits)
            else { return nil }
            return "did you mean \(bits)? It is a number of bits, not of kilobits"
        }
    }

    /// A rule for a number of frames per second. For a rate with a fraction, such as 29.97, the `fix` is the nearest
    /// allowed one.
    ///
    /// - Parameter note: What applies to rates with a fraction, appended to the `fix`.
    static func frameRate(_ range: ClosedRange<Int>, note: String) -> ValueRule {
        .integer(range) { rate in
            guard rate != rate.nearest, let whole = Int(exactly: rate.nearest), range.contains(whole) else {
                return nil
            }
            return "write \(whole): whole numbers from \(range.lowerBound) to \(range.upperBound) are possible; \(note)"
        }
    }

    /// A rule for an even number; an odd number is a mistake.
    static func even(_ range: ClosedRange<Int>) -> ValueRule {
        let integer = self.integer(range).refined { number throws(Problem) in
            if number.isMultiple(of: 2) { return number }
            throw Problem("\(number) is odd", fix: "use an even number: \(number - 1) or \(number + 1)")
        }
        return ValueRule(
            schema: integer.schema + [JSONMember("multipleOf", 2)], read: integer.read, write: integer.write)
    }

    /// A rule for an even number; an odd number is lowered by one, with a warning.
    static func evened(_ range: ClosedRange<Int>) -> ValueRule {
        let integer = self.integer(range)
        return ValueRule(
            schema: integer.schema,
            read: { node, path, log in
                guard let number = integer.read(node, path, &log) else { return nil }
                guard !number.isMultiple(of: 2) else { return number }
                log.warning(path, "\(number) is odd and was lowered to \(number - 1)", fix: "write \(number - 1)")
                return number - 1
            },
            write: integer.write)
    }

    /// A rule for a number of seconds, which may have a fraction and is stored as milliseconds.
    static func seconds(upTo most: Int) -> ValueRule {
        ValueRule(
            schema: [
                self.type("number"), JSONMember("minimum", JSONNode(.number(0.001))),
                JSONMember("maximum", .integer(most)),
            ],
            parse: { node throws(Problem) in
                let seconds: Double? =
                    switch node.content {
                    case .integer(let number): Double(number)
                    case .number(let number): number
                    default: nil
                    }
                let fix = "write a number of seconds from 0.001 to \(SpecText.grouped(most))"
                guard let seconds else { throw node.isNot("a number", fix: fix) }
                guard seconds >= 0.001, seconds <= Double(most),
                    let milliseconds = Int(exactly: (seconds * 1000).nearest)
                else { throw Problem("\(node.text()) is out of range", fix: fix) }
                return milliseconds
            })
    }

    /// A rule for one of a few integers.
    ///
    /// - Parameter reason: Why another integer is rejected, such as "is not a multiple of a quarter turn".
    static func one(of allowed: [Int], otherwise reason: String) -> ValueRule {
        ValueRule(
            schema: [JSONMember("enum", .array(allowed.map { .integer($0) }))],
            write: { .integer($0) },
            parse: { node throws(Problem) in
                let fix = "write \(SpecText.choice(allowed.map(String.init), quoted: false))"
                guard let number = node.integer else { throw node.isNot("a number", fix: fix) }
                guard let number = Int(exactly: number), allowed.contains(number) else {
                    throw Problem("\(number) \(reason)", fix: fix)
                }
                return number
            })
    }
}

extension Double {
    /// Returns the number rounded to the nearest whole number, halves up, for positive values far below 2^52.
    fileprivate var nearest: Double {
        let half = self + 0.5
        return half - half.truncatingRemainder(dividingBy: 1)
    }
}

extension ValueRule where Value == Bool {
    static var boolean: ValueRule {
        ValueRule(
            schema: [self.type("boolean")],
            write: { JSONNode(.boolean($0)) },
            parse: { node throws(Problem) in
                if let value = node.boolean { return value }
                throw node.isNot("a boolean", fix: "write true or false, without quotes")
            })
    }
}

extension ValueRule where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// A rule for one of the raw values of an enumeration.
    static var choice: ValueRule {
        let words = Value.allCases.map(\.rawValue)
        return ValueRule(
            schema: [JSONMember("enum", .array(words.map { .string($0) }))],
            write: { .string($0.rawValue) },
            parse: { node throws(Problem) in
                let fix = "write \(SpecText.choice(words))"
                guard let text = node.string else { throw node.isNot("a string", fix: fix) }
                if let value = Value(rawValue: text) { return value }
                let near = SpecText.nearest(to: text, among: words).map { "did you mean \(SpecText.quoted($0))?" }
                throw Problem("\(SpecText.quoted(text)) is not allowed here", fix: near ?? fix)
            })
    }
}

extension ValueRule {
    /// A rule for a value that `rule` accepts, or null, which is stored as `nil`.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
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

    /// A rule for an array of values that `rule` accepts.
    ///
    /// - Parameter stand: Value that replaces an invalid element, so that the other elements keep their index.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
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

extension JSONNode {
    /// Returns the problem that the value has another type than `wanted`.
    func isNot(_ wanted: String, fix: String) -> Problem {
        Problem("is \(self.kind), not \(wanted)", fix: fix)
    }
}
