import MediaTypes

/// One key of an object: its rule, its place in the model, and what it means.
struct Field<Root: Sendable>: Sendable {
    let key: String
    let isRequired: Bool
    /// Unit and range in words; the schema's description and the remedy when it is missing.
    let meaning: String
    /// Keywords of the JSON Schema, with the default that the prototype holds.
    let schema: @Sendable (_ prototype: Root) -> [JSONMember]
    let read: @Sendable (_ node: JSONNode, _ path: String, _ root: inout Root, _ log: inout SpecLog) -> Void

    /// A field with a default.
    ///
    /// - Parameter derived: The default depends on other fields, so `meaning` tells it and the schema shows none.
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

    /// A field that must be there.
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

    /// A field that is `nil` when it is not there.
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

    /// A key whose only value is one word.
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
            let what = node.string.map { "there is no \(SpecText.quoted($0)) here" } ?? "is \(node.kind), not a string"
            log.mistake(
                path, what, fix: "write \(SpecText.quoted(word))\(isRequired ? "" : ", or leave the key out")",
                at: node.position)
        }
    }

    /// A switch that cannot be on here: whoever looks for it is told why.
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
                    path, "is \(node.kind), not a boolean", fix: "write false, or leave the key out",
                    at: node.position)
            }
        }
    }

    /// A text for editors and other tools, which changes nothing.
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

    /// An object the program does not look into.
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
