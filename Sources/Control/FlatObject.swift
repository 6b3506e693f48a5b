import MediaTypes

/// A JSON object whose values are strings, numbers, Booleans or null, as in the short bodies of the control API.
///
/// Parsing is strict: every key must be known and may occur only once, and values that are objects or arrays are
/// refused.
///
/// Spec: RFC 8259.
package struct FlatObject {
    private var values: [String: JSONNode] = [:]

    /// Parses the object.
    ///
    /// - Parameters:
    ///   - body: The JSON text. An empty body is read as `{}`.
    ///   - keys: All allowed keys. The nearest one is suggested in the error message.
    package init(body: [UInt8], keys: [String]) throws(ControlFailure) {
        guard !body.isEmpty else { return }
        let document = JSONParser.parse(body)
        if let mistake = document.mistakes.first {
            throw .invalidFormat(
                "\(mistake.what) at line \(mistake.line), column \(mistake.column)", fix: mistake.fix)
        }
        guard case .object(let members)? = document.root?.content else {
            throw .invalidFormat("the body is not a JSON object", fix: "send a JSON object, such as {\"scene\":\"pk\"}")
        }
        for member in members {
            guard keys.contains(member.key) else { throw Self.unknown("key", member.key, known: keys) }
            switch member.value.content {
            case .array, .object:
                throw .invalidFormat(
                    "\"\(member.key)\" is \(member.value.kind)", fix: "use a string, a number, true, false or null",
                    status: 422)
            default: self.values[member.key] = member.value
            }
        }
    }

    /// The error for a name that is not in `known`, with the nearest known name as a suggestion.
    package static func unknown(_ sort: String, _ name: String, known: [String]) -> ControlFailure {
        let shown = name.count > 64 ? name.prefix(64) + "…" : name[...]
        guard !known.isEmpty else {
            return .invalidFormat("unknown \(sort) \"\(shown)\"", fix: "remove it: nothing is expected here")
        }
        let list = known.map { "\"\($0)\"" }.joined(separator: ", ")
        let nearest = SpecText.nearest(to: name, among: known).map { "did you mean \"\($0)\"? " } ?? ""
        return .invalidFormat("unknown \(sort) \"\(shown)\"", fix: "\(nearest)known here: \(list)")
    }

    package func string(_ key: String) throws(ControlFailure) -> String? {
        guard let value = self.values[key] else { return nil }
        guard let text = value.string else { throw Self.mismatch(key, value, expected: "a string") }
        return text
    }

    package func bool(_ key: String) throws(ControlFailure) -> Bool? {
        guard let value = self.values[key] else { return nil }
        guard let isTrue = value.boolean else { throw Self.mismatch(key, value, expected: "true or false") }
        return isTrue
    }

    package func integer(_ key: String, in range: ClosedRange<Int>) throws(ControlFailure) -> Int? {
        guard let value = self.values[key] else { return nil }
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let integer = value.integer else { throw Self.mismatch(key, value, expected: expected) }
        guard let number = Int(exactly: integer), range.contains(number) else {
            throw .invalidFormat("\"\(key)\" is \(integer)", fix: "use \(expected)", status: 422)
        }
        return number
    }

    private static func mismatch(_ key: String, _ value: JSONNode, expected: String) -> ControlFailure {
        .invalidFormat("\"\(key)\" is \(value.kind)", fix: "use \(expected)", status: 422)
    }
}
