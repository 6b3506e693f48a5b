import MediaTypes

/// What a JSON object may hold: the one table from which it is read and the schema is written.
struct ObjectRule<Root: Sendable>: Sendable {
    /// What the object is, for the schema.
    let meaning: String
    /// Holds the default of every field.
    let prototype: Root
    let fields: [Field<Root>]
    /// Further keywords of the schema, for what one field cannot say.
    let keywords: [JSONMember]

    init(_ meaning: String, _ prototype: Root, _ fields: [Field<Root>], keywords: [JSONMember] = []) {
        self.meaning = meaning
        self.prototype = prototype
        self.fields = fields
        self.keywords = keywords
    }

    /// Reads what is right, says what is not: unknown keys, missing ones, and whatever the fields' rules find.
    ///
    /// - Returns: `nil` when the node is no object; otherwise the prototype with every sound field filled in.
    func read(_ node: JSONNode, _ path: String, _ log: inout SpecLog) -> Root? {
        guard case .object(let members) = node.content else {
            log.mistake(path, "is \(node.kind), not an object", fix: "write { … }: \(self.meaning)", at: node.position)
            return nil
        }
        var root = self.prototype
        var present: Set<String> = []
        for member in members {
            let place = SpecPath.join(path, member.key)
            guard let field = self.fields.first(where: { $0.key == member.key }) else {
                self.refuse(member, at: place, &log)
                continue
            }
            present.insert(member.key)
            log.note(place, at: member.value.position)
            field.read(member.value, place, &root, &log)
        }
        for field in self.fields where field.isRequired && !present.contains(field.key) {
            log.mistake(
                SpecPath.join(path, field.key), "is missing", fix: "add \"\(field.key)\": \(field.meaning)",
                at: node.position)
        }
        return root
    }

    private func refuse(_ member: JSONMember, at place: String, _ log: inout SpecLog) {
        let known = self.fields.map(\.key)
        let fix =
            SpecText.nearest(to: member.key, among: known).map { "did you mean \"\($0)\"?" }
            ?? "remove it; known here: \(known.joined(separator: ", "))"
        log.mistake(place, "there is no key \(SpecText.quoted(member.key)) here", fix: fix, at: member.position)
    }

    /// Keywords of the JSON Schema.
    var schema: [JSONMember] {
        let required = self.fields.filter(\.isRequired).map { JSONNode.string($0.key) }
        return [
            JSONMember("type", "object"),
            JSONMember(
                "properties", .object(self.fields.map { JSONMember($0.key, .object($0.schema(self.prototype))) })),
            JSONMember("additionalProperties", false),
        ] + (required.isEmpty ? [] : [JSONMember("required", .array(required))]) + self.keywords
    }
}

extension ValueRule {
    /// An object, as its table says.
    static func object(_ rule: ObjectRule<Value>) -> ValueRule where Value: Sendable {
        ValueRule(schema: rule.schema, read: { rule.read($0, $1, &$2) })
    }

    /// An object that becomes another value once all its fields are known.
    static func object<Draft>(
        _ rule: ObjectRule<Draft>, finish: @escaping @Sendable (Draft, _ path: String, inout SpecLog) -> Value
    ) -> ValueRule {
        ValueRule(
            schema: rule.schema,
            read: { node, path, log in
                rule.read(node, path, &log).map { finish($0, path, &log) }
            })
    }
}
