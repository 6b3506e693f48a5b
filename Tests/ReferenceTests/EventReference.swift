import MediaTypes

/// The sections of every event type, from the JSON Schema of events.
struct EventReference {
    let schema: JSONNode

    private func definition(_ name: String) -> JSONNode? { self.schema[key: "$defs"]?[key: name] }

    /// Names of the event schemas, in the order of the declarations.
    private var names: [String] { self.schema[key: "oneOf"]?.array?.compactMap { SchemaText.reference($0) } ?? [] }

    /// All event types.
    var types: [String] { self.names.compactMap { self.definition($0).flatMap { Self.type(of: $0) } } }

    private static func type(of schema: JSONNode) -> String? {
        let type = schema[key: "properties"]?[key: "type"]
        return type?[key: "const"]?.string ?? type?[key: "enum"]?.array?.first?.string
    }

    /// The members that every event has.
    var common: String {
        guard let base = self.definition("Event") else { return "" }
        return "\n" + SchemaText.memberTable(base) + "\n"
    }

    /// A section for each event type, grouped by the first part of its name.
    var events: String {
        var groups: [(name: String, text: String)] = []
        for name in self.names {
            guard let schema = self.definition(name), let type = Self.type(of: schema) else { continue }
            let group = String(type.prefix { $0 != "." })
            if !groups.contains(where: { $0.name == group }) { groups.append((group, "\n## \(group)\n")) }
            guard let index = groups.firstIndex(where: { $0.name == group }) else { continue }
            groups[index].text += "\n### `\(type)`\n\n" + self.section(schema)
        }
        return groups.map(\.text).joined() + "\n"
    }

    private func section(_ schema: JSONNode) -> String {
        let table = SchemaText.memberTable(schema, skipping: ["type"])
        let example = schema[key: "examples"]?.array?.first?.text() ?? "{}"
        return Markdown.cell(schema[key: "description"]?.string ?? "") + "\n\n" + (table.isEmpty ? "" : table + "\n")
            + "```json\n\(example)\n```\n"
    }

    /// The schemas that members refer to.
    var shapes: String {
        guard case .object(let definitions)? = self.schema[key: "$defs"]?.content else { return "" }
        let events = Set(self.names + ["Event"])
        return definitions.filter { !events.contains($0.key) }.map { shape in
            "\n### \(shape.key)\n\n" + SchemaText.shapeText(shape.value)
        }.joined() + "\n"
    }
}

extension SchemaText {
    /// The description of a named schema and a table of its members, or its type if it has none.
    static func shapeText(_ schema: JSONNode) -> String {
        let meaning = Markdown.cell(schema[key: "description"]?.string ?? "")
        let table = self.memberTable(schema)
        return (meaning.isEmpty ? "" : "\(meaning)\n\n") + (table.isEmpty ? "\(self.typeAndRange(schema))\n" : table)
    }
}
