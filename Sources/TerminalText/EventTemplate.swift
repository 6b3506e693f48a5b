import MediaTypes

/// A text with places for the members of an event.
///
/// `{uid}` is a member, `{clip.name}` a member of a member, `{retryMs|seconds}` a member in another unit. A part in
/// square brackets is left out if one of its members is missing, null or empty. `[lost?, {lost} lost]` is left out also if
/// `lost` is false or 0.
struct EventTemplate: Sendable {
    private enum Part: Sendable {
        case text(String)
        case member(path: [String], form: String)
        case optional(condition: [String]?, [Part])
    }

    private let parts: [Part]

    init(_ text: String) {
        var rest = Substring(text)
        self.parts = Self.parse(&rest, isOptional: false)
    }

    private static func parse(_ rest: inout Substring, isOptional: Bool) -> [Part] {
        var (parts, text): ([Part], String) = ([], "")
        func flush() {
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
        }
        while let character = rest.popFirst() {
            switch character {
            case "{":
                flush()
                let inside = rest.prefix { $0 != "}" }
                rest = rest.dropFirst(inside.count + 1)
                let words = inside.split(separator: "|", maxSplits: 1)
                let path = (words.first ?? "").split(separator: ".").map(String.init)
                parts.append(.member(path: path, form: words.count > 1 ? String(words[1]) : ""))
            case "[":
                flush()
                let name = rest.prefix { $0.isLetter || $0 == "." }
                var condition: [String]?
                if rest.dropFirst(name.count).first == "?" {
                    condition = name.split(separator: ".").map(String.init)
                    rest = rest.dropFirst(name.count + 1)
                }
                parts.append(.optional(condition: condition, self.parse(&rest, isOptional: true)))
            case "]" where isOptional:
                flush()
                return parts
            default: text.append(character)
            }
        }
        flush()
        return parts
    }

    /// Returns the text for an event. A member that is missing outside of brackets becomes `?`.
    func text(_ event: JSONNode) -> String {
        self.parts.map { Self.text($0, event, isOptional: false) ?? "?" }.joined()
    }

    /// Paths of the members that the template uses, for example `clip.name`.
    var members: [String] { self.parts.flatMap(Self.members) }

    private static func members(_ part: Part) -> [String] {
        switch part {
        case .text: []
        case .member(let path, _): [path.joined(separator: ".")]
        case .optional(let condition, let parts):
            (condition.map { [$0.joined(separator: ".")] } ?? []) + parts.flatMap(self.members)
        }
    }

    /// The text of a part; `nil` for a member that is missing, or that is empty in an optional part.
    private static func text(_ part: Part, _ event: JSONNode, isOptional: Bool) -> String? {
        switch part {
        case .text(let text): return text
        case .member(let path, let form):
            guard let value = self.value(path, event), !isOptional || !EventValue.isEmpty(value) else { return nil }
            return EventValue.text(value, form)
        case .optional(let condition, let parts):
            if let condition {
                guard let value = self.value(condition, event), !EventValue.isEmpty(value),
                    value.boolean != false, value.integer != 0
                else { return "" }
            }
            var text = ""
            for part in parts {
                guard let piece = self.text(part, event, isOptional: true) else { return "" }
                text += piece
            }
            return text
        }
    }

    private static func value(_ path: [String], _ event: JSONNode) -> JSONNode? {
        path.reduce(Optional(event)) { $0?[key: $1] }
    }
}
