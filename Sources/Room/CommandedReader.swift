import MediaTypes
import PipelineSpec

/// Reads the members of `commands.json` one by one. An invalid member is reported and skipped; the others are still
/// read.
struct CommandedReader {
    /// Paths of the members that could not be read; 64 at most.
    private(set) var problems: [String] = []
    /// Members with names that this version does not know, by the path of their object; see ``CommandedState/unknown``.
    private(set) var unknown: [String: [JSONMember]] = [:]

    mutating func fail(_ name: String) { if self.problems.count < 64 { self.problems.append(name) } }

    /// Keeps the members of a JSON object whose names are not in `known`, so that they are written back.
    mutating func keepUnknown(of node: JSONNode, _ path: String, known: [String]) {
        guard case .object(let members) = node.content else { return }
        let rest = members.filter { !known.contains($0.key) }
        if !rest.isEmpty { self.unknown[path] = rest.map { JSONMember($0.key, $0.value.bare) } }
    }

    /// Moves kept unknown members from one path to another.
    mutating func moveUnknown(from path: String, to other: String) {
        if let members = self.unknown.removeValue(forKey: path) { self.unknown[other] = members }
    }

    // MARK: Members

    private mutating func member<Value>(
        _ node: JSONNode, _ key: String, _ path: String, _ read: (JSONNode) -> Value?
    ) -> Value? {
        guard let member = node[key: key], member.content != .null else { return nil }
        if let value = read(member) { return value }
        self.fail(path.isEmpty ? key : "\(path).\(key)")
        return nil
    }

    mutating func text(_ node: JSONNode, _ key: String, _ path: String) -> String? {
        self.member(node, key, path) { $0.string }
    }

    mutating func flag(_ node: JSONNode, _ key: String, _ path: String) -> Bool? {
        self.member(node, key, path) { if case .boolean(let value) = $0.content { value } else { nil } }
    }

    mutating func number(
        _ node: JSONNode, _ key: String, _ path: String, in range: ClosedRange<Int64> = 0...Int64.max
    ) -> Int64? {
        self.member(node, key, path) { $0.integer.flatMap { range.contains($0) ? $0 : nil } }
    }

    mutating func integer(_ node: JSONNode, _ key: String, _ path: String, in range: ClosedRange<Int>) -> Int? {
        self.number(node, key, path, in: Int64(range.lowerBound)...Int64(range.upperBound)).map { Int($0) }
    }

    /// Reads a string that must be a raw value of the enumeration; nil if the member is absent, or if it has another
    /// value, which is reported.
    mutating func choice<Value: RawRepresentable>(
        _ node: JSONNode, _ key: String, _ path: String, as type: Value.Type = Value.self
    ) -> Value? where Value.RawValue == String {
        self.member(node, key, path) { $0.string.flatMap { Value(rawValue: $0) } }
    }

    mutating func object(_ node: JSONNode, _ key: String, _ path: String) -> JSONNode? {
        self.member(node, key, path) { if case .object = $0.content { $0 } else { nil } }
    }

    /// Reads the members of the object `key`; empty if it is absent, or if it is not an object, which is reported.
    mutating func entries(_ node: JSONNode, _ key: String, _ path: String) -> [JSONMember] {
        self.member(node, key, path) { if case .object(let members) = $0.content { members } else { nil } } ?? []
    }

    /// Reads an object whose values are integers. Other values, and those outside of `range`, are reported and skipped.
    mutating func numbers(
        _ node: JSONNode, _ key: String, _ path: String, in range: ClosedRange<Int64> = 0...Int64.max
    ) -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for member in self.entries(node, key, path) {
            if let number = member.value.integer, range.contains(number) {
                numbers[member.key] = number
            } else {
                self.fail("\(path.isEmpty ? key : "\(path).\(key)")[\(member.key)]")
            }
        }
        return numbers
    }

    mutating func elements(_ node: JSONNode, _ key: String, _ path: String) -> [JSONNode] {
        self.member(node, key, path) { if case .array(let elements) = $0.content { elements } else { nil } } ?? []
    }

    mutating func source(_ node: JSONNode, _ path: String) -> SourceID? {
        guard let uid = self.text(node, "uid", path), !uid.isEmpty,
            let type = self.choice(node, "streamType", path, as: StreamType.self)
        else { return nil }
        return SourceID(uid, type)
    }
}
