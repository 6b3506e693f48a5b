import MediaTypes

/// A JSON Schema as words: types, ranges and members for tables.
enum SchemaText {
    /// The value's type, such as `integer`, `list of string` or `string or null`.
    static func type(_ schema: JSONNode) -> String {
        if let name = self.reference(schema) { return "`\(name)`" }
        if let options = self.alternatives(schema) { return self.unique(options.map { self.type($0) }, " or ") }
        if schema[key: "const"] != nil { return "constant" }
        if let words = schema[key: "enum"]?.array {
            return words.contains { $0.content == .null } ? "word or null" : "word"
        }
        switch schema[key: "type"]?.content {
        case .string(let name): return self.type(named: name, schema)
        case .array(let names):
            return self.unique(names.compactMap(\.string).map { self.type(named: $0, schema) }, " or ")
        default: return "any"
        }
    }

    private static func type(named name: String, _ schema: JSONNode) -> String {
        switch name {
        case "array": "list of \(schema[key: "items"].map { self.type($0) } ?? "any")"
        case "object":
            if let value = schema[key: "additionalProperties"], case .object = value.content {
                "map of \(self.type(value))"
            } else {
                "object"
            }
        default: name
        }
    }

    /// The values that are allowed: a constant, words, numbers, lengths, a pattern.
    static func range(_ schema: JSONNode) -> String {
        if let options = self.alternatives(schema) {
            return self.unique(options.map { self.range($0) }.filter { !$0.isEmpty }, "; or ")
        }
        if let value = schema[key: "const"] { return Markdown.code(value.text()) }
        if let words = schema[key: "enum"]?.array {
            return words.compactMap { $0.string ?? $0.integer.map { "\($0)" } }.map { Markdown.code($0) }
                .joined(separator: ", ")
        }
        var parts: [String] = []
        if let bounds = self.bounds(schema, "minimum", "maximum") { parts.append(bounds) }
        if schema[key: "multipleOf"]?.integer == 2 { parts.append("even") }
        if let count = self.bounds(schema, "minItems", "maxItems") { parts.append("\(count) elements") }
        if let count = self.bounds(schema, "minLength", "maxLength") { parts.append("\(count) characters") }
        if let pattern = schema[key: "pattern"]?.string {
            parts.append(pattern == "^[^\\u0000]+$" ? "not empty" : Markdown.code(pattern))
        }
        if let items = schema[key: "items"], self.reference(items) == nil, items[key: "properties"] == nil {
            let each = self.range(items)
            if !each.isEmpty { parts.append("each \(each)") }
        }
        return parts.joined(separator: ", ")
    }

    /// Type and range in one cell.
    static func typeAndRange(_ schema: JSONNode) -> String {
        let range = self.range(schema)
        return range.isEmpty ? self.type(schema) : "\(self.type(schema)): \(range)"
    }

    private static func bounds(_ schema: JSONNode, _ lower: String, _ upper: String) -> String? {
        func text(_ node: JSONNode?) -> String? {
            guard let node else { return nil }
            // The largest integers only say that there is no upper bound.
            if let number = node.integer, number >= 9_007_199_254_740_991 { return nil }
            return node.text()
        }
        switch (text(schema[key: lower]), text(schema[key: upper])) {
        case (let low?, let high?): return low == high ? low : "\(low) to \(high)"
        case (let low?, nil): return "\(low) or more"
        case (nil, let high?): return "up to \(high)"
        case (nil, nil): return nil
        }
    }

    /// The name of the schema that a schema refers to.
    static func reference(_ schema: JSONNode) -> String? {
        schema[key: "$ref"]?.string.flatMap { $0.split(separator: "/").last.map(String.init) }
    }

    /// The schemas of which one applies; nil if `oneOf` or `anyOf` only says which members are required together.
    private static func alternatives(_ schema: JSONNode) -> [JSONNode]? {
        guard let options = (schema[key: "anyOf"] ?? schema[key: "oneOf"])?.array else { return nil }
        let isTyped = options.contains { option in
            ["type", "const", "enum", "$ref"].contains { option[key: $0] != nil }
        }
        return isTyped ? options : nil
    }

    private static func unique(_ texts: [String], _ separator: String) -> String {
        var known: [String] = []
        for text in texts where !known.contains(text) { known.append(text) }
        return known.joined(separator: separator)
    }

    // MARK: Members

    /// A member of an object, or of an object inside of it.
    struct Member {
        /// Dotted, with `[]` after the name of a list and `.*` for any name of a map.
        let path: String
        var isRequired: Bool
        /// More than one if alternatives of the object declare it differently.
        var schemas: [JSONNode]

        var type: String { SchemaText.unique(self.schemas.map { SchemaText.type($0) }, " or ") }
        var range: String {
            SchemaText.unique(self.schemas.map { SchemaText.range($0) }.filter { !$0.isEmpty }, "; or ")
        }
        var typeAndRange: String { self.range.isEmpty ? self.type : "\(self.type): \(self.range)" }
        var meaning: String { self.schemas.lazy.compactMap { $0[key: "description"]?.string }.first ?? "" }
        func value(_ key: String) -> JSONNode? { self.schemas.lazy.compactMap { $0[key: key] }.first }
    }

    /// All members below a schema, in their order, each before its own members.
    static func members(of schema: JSONNode, at path: String = "") -> [Member] {
        var found: [Member] = []
        func add(_ member: Member) {
            guard let index = found.firstIndex(where: { $0.path == member.path }) else { return found.append(member) }
            found[index].isRequired = found[index].isRequired && member.isRequired
            found[index].schemas += member.schemas
        }
        if let options = self.alternatives(schema) {
            for option in options { for member in self.members(of: option, at: path) { add(member) } }
        }
        if let items = schema[key: "items"] {
            for member in self.members(of: items, at: "\(path)[]") { add(member) }
        }
        if let value = schema[key: "additionalProperties"], case .object = value.content {
            for member in self.members(of: value, at: path.isEmpty ? "*" : "\(path).*") { add(member) }
        }
        guard case .object(let properties)? = schema[key: "properties"]?.content else { return found }
        let required = schema[key: "required"]?.array?.compactMap(\.string) ?? []
        for property in properties {
            let place = path.isEmpty ? property.key : "\(path).\(property.key)"
            add(Member(path: place, isRequired: required.contains(property.key), schemas: [property.value]))
            for member in self.members(of: property.value, at: place) { add(member) }
        }
        return found
    }

    /// A table of all members below a schema; empty if it has none.
    static func memberTable(_ schema: JSONNode, skipping skipped: Set<String> = []) -> String {
        Markdown.table(
            ["member", "type", "meaning"],
            self.members(of: schema).filter { !skipped.contains($0.path) }.map { member in
                [
                    Markdown.code(member.path) + (member.isRequired ? "" : " (optional)"), member.typeAndRange,
                    Markdown.cell(member.meaning),
                ]
            })
    }
}
