import MediaTypes

/// One key of a JSON object: the rule for its value, the property that stores the value, and its description.
struct Field<Root: Sendable>: Sendable {
    let key: String
    let isRequired: Bool
    /// Description with unit and range; used as the schema's `description` and in the `fix` when the key is missing.
    let meaning: String
    /// Returns the keywords of the key's JSON Schema. A fixed default is the value in the prototype.
    let schema: @Sendable (_ prototype: Root) -> [JSONMember]
    let read: @Sendable (_ node: JSONNode, _ path: String, _ root: inout Root, _ log: inout SpecLog) -> Void
}

// The functions of rules and fields are generic, and used once for each of 400 keys. Specialized copies would be a third of
// the module's code and half of its compile time; each runs once per key of a document.
extension Field {
    /// A field with a default.
    ///
    /// - Parameter derived: The default depends on other fields. `meaning` describes it, and the schema has no
    ///   `default`.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    init<Value>(
        _ key: String, _ place: WritableKeyPath<Root, Value> & Sendable, _ rule: ValueRule<Value>, _ meaning: String,
        derived: Bool = false
    ) {
        let schema: @Sendable (Root) -> [JSONMember] = { prototype in
            let shown = derived ? nil : rule.write(prototype[keyPath: place])
            return rule.schema + (shown.map { [JSONMember("default", $0)] } ?? [])
        }
        self.init(key, schema, meaning) { node, path, root, log in
            if let value = rule.read(node, path, &log) { root[keyPath: place] = value }
        }
    }

    /// A required field.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    init<Value>(
        required key: String, _ place: WritableKeyPath<Root, Value> & Sendable, _ rule: ValueRule<Value>,
        _ meaning: String
    ) {
        self.init(key, isRequired: true, { _ in rule.schema }, meaning) { node, path, root, log in
            if let value = rule.read(node, path, &log) { root[keyPath: place] = value }
        }
    }

    /// An optional field; the stored value is `nil` if the key is missing.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    init<Value>(
        optional key: String, _ place: WritableKeyPath<Root, Value?> & Sendable, _ rule: ValueRule<Value>,
        _ meaning: String
    ) {
        self.init(key, { _ in rule.schema }, meaning) { node, path, root, log in
            if let value = rule.read(node, path, &log) { root[keyPath: place] = value }
        }
    }

    /// A key with only one allowed value.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    init(_ key: String, always word: String, isRequired: Bool, _ meaning: String) {
        let schema = [JSONMember("const", .string(word))] + (isRequired ? [] : [JSONMember("default", .string(word))])
        self.init(key, isRequired: isRequired, { _ in schema }, meaning) { node, path, _, log in
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
        let schema = [JSONMember("const", false), JSONMember("default", false)]
        self.init(key, { _ in schema }, meaning) { node, path, _, log in
            switch node.boolean {
            case false?: break
            case true?: log.mistake(path, reason, fix: fix, at: node.position)
            case nil:
                log.mistake(
                    path, "is \(node.kind), not a boolean", fix: "write false, or remove the key",
                    at: node.position)
            }
        }
    }

    /// A string for editors and other tools, which the program ignores.
    init(note key: String, _ meaning: String) {
        self.init(key, { _ in [JSONMember("type", "string")] }, meaning) { node, path, _, log in
            if case .string = node.content { return }
            log.mistake(path, "is \(node.kind), not a string", fix: "write a URL or a path", at: node.position)
        }
    }

    /// An object whose content the program ignores.
    init(free key: String, _ meaning: String) {
        self.init(key, { _ in [JSONMember("type", "object")] }, meaning) { node, path, _, log in
            if case .object = node.content { return }
            log.mistake(path, "is \(node.kind), not an object", fix: "write { … }", at: node.position)
        }
    }

    private init(
        _ key: String, isRequired: Bool = false, _ schema: @escaping @Sendable (Root) -> [JSONMember],
        _ meaning: String,
        read: @escaping @Sendable (JSONNode, String, inout Root, inout SpecLog) -> Void
    ) {
        self.init(
            key: key, isRequired: isRequired, meaning: meaning,
            schema: { [JSONMember("description", .string(meaning))] + schema($0) }, read: read)
    }

    /// Returns the field for a larger object in which this field's object is stored at `part`.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    func within<Whole>(_ part: WritableKeyPath<Whole, Root> & Sendable) -> Field<Whole> {
        Field<Whole>(
            key: self.key, isRequired: self.isRequired, meaning: self.meaning,
            schema: { self.schema($0[keyPath: part]) }, read: { self.read($0, $1, &$2[keyPath: part], &$3) })
    }

    static func outputID(_ place: WritableKeyPath<Root, String> & Sendable) -> Field {
        Field("outputId", place, .id, "the output's id: 1 to 64 letters, digits, _ . or -")
    }

    static func zOrder(_ place: WritableKeyPath<Root, Int> & Sendable) -> Field {
        Field(
            "zOrder", place, .integer(0...100),
            "stacking order; a higher value is drawn on top, and among equal values the later element")
    }
}
