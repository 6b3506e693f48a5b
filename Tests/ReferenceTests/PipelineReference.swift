import MediaTypes

/// The tables of every key of the pipeline file, from its JSON Schema.
struct PipelineReference {
    let schema: JSONNode
    /// Whether a path, with its indexes as `[]`, can change while the room runs.
    let isAlive: (String) -> Bool
    /// The pipelines that the project shows; examples are taken from them.
    let pipelines: [JSONNode]
    /// Every key, in the order of the schema; those of `outputs` once for each type.
    let keys: [Key]

    init(schema: JSONNode, pipelines: [JSONNode], isAlive: @escaping (String) -> Bool) {
        self.schema = schema
        self.isAlive = isAlive
        self.pipelines = pipelines
        self.keys = Self.keys(of: schema)
    }

    /// One key.
    struct Key {
        /// Dotted, with `[]` after the name of a list, and the type of an output in these brackets.
        let path: String
        /// The same path without the type of an output.
        let plainPath: String
        let member: SchemaText.Member
        var name: String { self.path.split(separator: ".").last.map(String.init) ?? "" }
        /// An object, or a list of objects: its members have rows of their own.
        let isContainer: Bool
    }

    private static func keys(of schema: JSONNode) -> [Key] {
        guard case .object(let properties)? = schema[key: "properties"]?.content else { return [] }
        let required = schema[key: "required"]?.array?.compactMap(\.string) ?? []
        var members: [SchemaText.Member] = []
        for property in properties {
            let isRequired = required.contains(property.key)
            members.append(.init(path: property.key, isRequired: isRequired, schemas: [property.value]))
            if let variants = property.value[key: "items"]?[key: "oneOf"]?.array, property.key == "outputs" {
                for variant in variants {
                    members += SchemaText.members(of: variant, at: "outputs[\(self.kind(variant))]")
                }
            } else {
                members += SchemaText.members(of: property.value, at: property.key)
            }
        }
        return members.map { member in
            Key(
                path: member.path, plainPath: member.path.replacing(/\[[a-z0-9 ]+\]/, with: "[]"), member: member,
                isContainer: members.contains {
                    $0.path.hasPrefix("\(member.path).") || $0.path.hasPrefix("\(member.path)[")
                })
        }
    }

    /// `hls`, `hls ts`, `record` and so on.
    private static func kind(_ variant: JSONNode) -> String {
        let properties = variant[key: "properties"]
        let type = properties?[key: "type"]?[key: "const"]?.string ?? ""
        let format = properties?[key: "segmentFormat"]?[key: "const"]?.string
        return format == "ts" ? "\(type) \(format ?? "")" : type
    }

    /// A table for the keys at the top of the document, then one for each of them that has members, and each type of
    /// output.
    var text: String {
        let keys = self.keys
        var text = "## The document\n\n" + self.table(keys.filter { !$0.path.contains(".") && !$0.path.contains("[") })
        var groups: [(heading: String, keys: [Key])] = []
        for key in keys where key.path.contains(".") || key.path.contains("[") {
            let top = String(key.path.prefix { $0 != "." && $0 != "[" })
            let kind = key.path.firstMatch(of: /^outputs\[([a-z0-9 ]+)\]/).map { String($0.output.1) }
            let heading = kind.map { "outputs of type \($0)" } ?? top
            if groups.last?.heading != heading { groups.append((heading, [])) }
            groups[groups.count - 1].keys.append(key)
        }
        for group in groups { text += "\n## \(group.heading)\n\n" + self.table(group.keys) }
        return text
    }

    private func table(_ keys: [Key]) -> String {
        Markdown.table(
            ["key", "type", "range", "unit", "default", "example", "while the room runs", "meaning"],
            keys.map { key in
                [
                    Markdown.code(key.path.replacing(/^outputs\[[a-z0-9 ]+\]\./, with: "")), key.member.type,
                    key.member.range, PipelineUnits.unit(of: key) ?? "", self.defaultText(of: key),
                    key.isContainer ? "" : Markdown.code(self.example(of: key)?.text() ?? ""), self.change(of: key),
                    Markdown.cell(key.member.meaning),
                ]
            })
    }

    private func defaultText(of key: Key) -> String {
        if key.member.isRequired { return "required" }
        if let value = key.member.value("default") { return Markdown.code(value.text()) }
        let isDescribed = key.member.meaning.contains("default ") || key.member.meaning.contains("without it")
        return isDescribed ? "see meaning" : "none"
    }

    // MARK: While the room runs

    private func change(of key: Key) -> String {
        let path = key.plainPath
        if ["revision", "$schema", "apiVersion"].contains(path) { return "yes" }
        if key.path.hasPrefix("outputs[rtmp]") { return "reconnects" }
        if self.isAlive(path) { return "yes" }
        let hasLiveMember = self.keys.contains {
            $0.plainPath.hasPrefix("\(path).") || $0.plainPath.hasPrefix("\(path)[")
                ? self.isAlive($0.plainPath) : false
        }
        if hasLiveMember || path == "outputs" { return "partly" }
        return path.hasPrefix("sources[]") ? "rejoin" : "restart"
    }

    // MARK: Examples

    /// An example of a key's value: the one for its path, or from a pipeline of the project, or the default, or one made
    /// from the schema, or the one for its name; nil if there is none.
    func example(of key: Key) -> JSONNode? {
        if let own = PipelineExamples.of(key) { return own }
        for pipeline in self.pipelines {
            if let value = Self.value(at: key.path, in: pipeline) { return value }
        }
        if let value = key.member.value("default"), value.content != .null, value.array?.isEmpty != true {
            return value
        }
        if let value = key.member.value("const") ?? key.member.value("enum")?.array?.first { return value }
        if key.member.type == "boolean" { return true }
        if let value = PipelineExamples.named(key.name) { return value }
        return key.member.value("default")
    }

    /// The first value at a path; `[]` is any element, `[TYPE]` one of an output of that type.
    private static func value(at path: String, in document: JSONNode) -> JSONNode? {
        var nodes = [document]
        for step in path.split(separator: ".") {
            let name = String(step.prefix { $0 != "[" })
            nodes = nodes.compactMap { $0[key: name] }
            guard let bracket = step.firstIndex(of: "[") else { continue }
            let kind = step[bracket...].dropFirst().dropLast()
            nodes = nodes.flatMap { $0.array ?? [] }.filter { element in
                guard !kind.isEmpty else { return true }
                let isTransport = element[key: "segmentFormat"]?.string == "ts"
                return (element[key: "type"]?.string ?? "hls") + (isTransport ? " ts" : "") == kind
            }
        }
        return nodes.first
    }
}
