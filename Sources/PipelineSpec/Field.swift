import MediaTypes

/// One key of a JSON object: its rule, the property it is stored in, and its description.
struct Field<Root: Sendable>: Sendable {
    let key: String
    let isRequired: Bool
    /// Description with unit and range; used as the schema's `description` and in the `fix` when the key is missing.
    let meaning: String
    /// Keywords of the JSON Schema, including the default from the prototype.
    let schema: @Sendable (_ prototype: Root) -> [JSONMember]
    let read: @Sendable (_ node: JSONNode, _ path: String, _ root: inout Root, _ log: inout SpecLog) -> Void

    /// A field with a default.
    ///
    /// - Parameter derived: The default depends on other fields. `meaning` describes it, and the schema has no `default`.
    init<Value>(
        _ key: String, _ place: WritableKeyPath<Root, Value> & Sendable, _ rule: ValueRule<Value>, _ meaning: String,
        derived: Bool = false
    ) {
        self.key = key
        self.isRequired = false
        self.meaning = meaning
        self.schema = { prototype in
            let shown = derived ? nil : rule.write(prototype[keyPath: place])
            return [JSONMember("description", .string(meaning))] + rule.schema
                + (shown.map { [JSONMember("default", $0)] } ?? [])
        }
        self.read = { node, path, root, log in
            if let value = rule.read(node, path, &log) { root[keyPath: place] = value }
        }
    }

    /// A required field.
    init<Value>(
        required key: String, _ place: WritableKeyPath<Root, Value> & Sendable, _ rule: ValueRule<Value>,
        _ meaning: String
    ) {
        self.key = key
        self.isRequired = true
        self.meaning = meaning
        self.schema = { _ in [JSONMember("description", .string(meaning))] + rule.schema }
        self.read = { node, path, root, log in
            if let value = rule.read(node, path, &log) { root[keyPath: place] = value }
        }
    }

    /// An optional field; `nil` if the key is missing.
    init<Value>(
        optional key: String, _ place: WritableKeyPath<Root, Value?> & Sendable, _ rule: ValueRule<Value>,
        _ meaning: String
    ) {
        self.key = key
        self.isRequired = false
        self.meaning = meaning
        self.schema = { _ in [JSONMember("description", .string(meaning))] + rule.schema }
        self.read = { node, path, root, log in
            if let value = rule.read(node, path, &log) { root[keyPath: place] = value }
        }
    }

    /// A key with only one allowed value.
    init(_ key: String, always word: String, isRequired: Bool, _ meaning: String) {
        self.key = key
        self.isRequired = isRequired
        self.meaning = meaning
        self.schema = { _ in
            [JSONMember("description", .string(meaning)), JSONMember("const", .string(word))]
                + (isRequired ? [] : [JSONMember("default", .string(word))])
        }
        self.read = { node, path, _, log in
            if node.string == word { return }
            let what =
                node.string.map { "\(SpecText.quoted($0)) is not allowed here" } ?? "is \(node.kind), not a string"
            log.mistake(
                path, what, fix: "write \(SpecText.quoted(word))\(isRequired ? "" : ", or remove the key")",
                at: node.position)
        }
    }

    /// A boolean that must be false here; writing `true` is a mistake whose message explains why.
    init(neverOn key: String, because reason: String, fix: String, _ meaning: String) {
        self.key = key
        self.isRequired = false
        self.meaning = meaning
        self.schema = { _ in
            [JSONMember("description", .string(meaning)), JSONMember("const", false), JSONMember("default", false)]
        }
        self.read = { node, path, _, log in
            switch node.content {
            case .boolean(false): break
            case .boolean(true): log.mistake(path, reason, fix: fix, at: node.position)
            default:
                log.mistake(
                    path, "is \(node.kind), not a boolean", fix: "write false, or remove the key",
                    at: node.position)
            }
        }
    }

    /// A string for editors and other tools, which the program ignores.
    init(note key: String, _ meaning: String) {
        self.key = key
        self.isRequired = false
        self.meaning = meaning
        self.schema = { _ in [JSONMember("description", .string(meaning)), JSONMember("type", "string")] }
        self.read = { node, path, _, log in
            if case .string = node.content { return }
            log.mistake(path, "is \(node.kind), not a string", fix: "write a URL or a path", at: node.position)
        }
    }

    /// An object whose content the program ignores.
    init(free key: String, _ meaning: String) {
        self.key = key
        self.isRequired = false
        self.meaning = meaning
        self.schema = { _ in [JSONMember("description", .string(meaning)), JSONMember("type", "object")] }
        self.read = { node, path, _, log in
            if case .object = node.content { return }
            log.mistake(path, "is \(node.kind), not an object", fix: "write { … }", at: node.position)
        }
    }
}
