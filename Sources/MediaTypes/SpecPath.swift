/// A path in a JSON document, for example `renditions[2].height`.
package struct SpecPath: Sendable, Hashable, CustomStringConvertible {
    package enum Step: Sendable, Hashable {
        case key(String)
        case index(Int)
    }

    package var steps: [Step] = []

    package init() {}

    /// Parses `key(.key | [index])*` with keys of 1 to 64 ASCII letters, digits, `_`, `$` and `-`, and indices of at
    /// most nine digits; at most 32 steps. `nil` for any other text.
    package init?(_ text: String) {
        var rest = Substring(text)
        while !rest.isEmpty {
            guard self.steps.count < 32 else { return nil }
            if rest.first == "[" {
                guard !self.steps.isEmpty, let end = rest.firstIndex(of: "]") else { return nil }
                let digits = rest[rest.index(after: rest.startIndex)..<end]
                guard (1...9).contains(digits.utf8.count), digits.isDigits,
                    let index = Int(digits)
                else { return nil }
                self.steps.append(.index(index))
                rest = rest[rest.index(after: end)...]
            } else {
                if !self.steps.isEmpty {
                    guard rest.first == "." else { return nil }
                    rest = rest.dropFirst()
                }
                let key = rest.prefix { $0 != "." && $0 != "[" }
                guard Self.isPlain(key) else { return nil }
                self.steps.append(.key(String(key)))
                rest = rest[key.endIndex...]
            }
        }
        if self.steps.isEmpty { return nil }
    }

    package var description: String {
        self.steps.reduce(into: "") { text, step in
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let key): text = Self.join(text, key)
            }
        }
    }

    /// Returns `path.key`, or `key` for an empty path; a key that is not a plain word is written in brackets and
    /// quotes.
    package static func join(_ path: String, _ key: String) -> String {
        if self.isPlain(key[...]) { return path.isEmpty ? key : "\(path).\(key)" }
        return "\(path)[\(SpecText.quoted(key))]"
    }

    /// Returns the path without its last step; empty for a path of one step, `nil` for an empty path.
    package static func parent(of path: String) -> String? {
        guard !path.isEmpty else { return nil }
        if path.hasSuffix("\"]"), let quoted = path.ranges(of: "[\"").last {
            return String(path[..<quoted.lowerBound])
        }
        guard let cut = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { return "" }
        return String(path[..<cut])
    }

    private static func isPlain(_ key: Substring) -> Bool {
        (1...64).contains(key.utf8.count) && key.isPlain(marks: "_$-")
    }
}
