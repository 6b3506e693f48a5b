/// A JSON object whose values are strings, numbers, booleans or null: what the control API's bodies are.
///
/// Strict: no duplicate keys, no comments, no nesting, nothing after the object; every key must be known.
///
/// Spec: RFC 8259.
package struct FlatObject: Hashable {
    package enum Value: Hashable {
        case string(String)
        case integer(Int)
        /// A number that is not a whole one within `Int`, as it was written.
        case number(String)
        case bool(Bool)
        case null

        /// The value as it is called in a message.
        var kind: String {
            switch self {
            case .string: "a string"
            case .integer: "a whole number"
            case .number(let text): "the number \(text)"
            case .bool: "true or false"
            case .null: "null"
            }
        }
    }

    private var values: [String: Value]

    /// - Parameters:
    ///   - body: The JSON text; no bytes at all read as `{}`.
    ///   - keys: Every key that may occur, for the suggestion in the message.
    package init(body: [UInt8], keys: [String]) throws(ControlFailure) {
        self.values = [:]
        guard !body.isEmpty else { return }
        var scanner = try JSONScanner(body)
        try scanner.expect("{")
        var isFirst = true
        while try !scanner.take("}") {
            if !isFirst { try scanner.expect(",") }
            isFirst = false
            let key = try scanner.string(what: "a key in quotes")
            guard keys.contains(key) else { throw Self.unknown("key", key, known: keys) }
            guard self.values[key] == nil else {
                throw .invalidFormat("\"\(key)\" occurs twice", fix: "send it once")
            }
            try scanner.expect(":")
            self.values[key] = try scanner.scalar(of: key)
        }
        try scanner.expectEnd()
    }

    /// The refusal of a name that is not one of `known`, with the nearest of them.
    package static func unknown(_ sort: String, _ name: String, known: [String]) -> ControlFailure {
        let shown = name.count > 64 ? name.prefix(64) + "…" : name[...]
        guard !known.isEmpty else {
            return .invalidFormat("unknown \(sort) \"\(shown)\"", fix: "remove it: nothing is expected here")
        }
        let list = known.map { "\"\($0)\"" }.joined(separator: ", ")
        let nearest = NearestName.of(name, in: known).map { "did you mean \"\($0)\"? " } ?? ""
        return .invalidFormat("unknown \(sort) \"\(shown)\"", fix: "\(nearest)known here: \(list)")
    }

    package func string(_ key: String) throws(ControlFailure) -> String? {
        switch self.values[key] {
        case nil: return nil
        case .string(let text): return text
        case .some(let other): throw Self.mismatch(key, other, expected: "a string")
        }
    }

    package func bool(_ key: String) throws(ControlFailure) -> Bool? {
        switch self.values[key] {
        case nil: return nil
        case .bool(let value): return value
        case .some(let other): throw Self.mismatch(key, other, expected: "true or false")
        }
    }

    package func integer(_ key: String, in range: ClosedRange<Int>) throws(ControlFailure) -> Int? {
        switch self.values[key] {
        case nil: return nil
        case .integer(let value) where range.contains(value): return value
        case .integer(let value):
            throw .invalidFormat(
                "\"\(key)\" is \(value)", fix: "use a whole number from \(range.lowerBound) to \(range.upperBound)",
                status: 422)
        case .some(let other):
            throw Self.mismatch(key, other, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    private static func mismatch(_ key: String, _ value: Value, expected: String) -> ControlFailure {
        .invalidFormat("\"\(key)\" is \(value.kind)", fix: "use \(expected)", status: 422)
    }
}
