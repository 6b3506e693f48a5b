import MediaTypes

/// The rule for a JSON object: a table of its members, which both the parser and the JSON Schema use.
struct ObjectRule<Root: Sendable>: Sendable {
    /// Description of the object for the schema.
    let meaning: String
    /// A value with the default of every field.
    let prototype: Root
    let fields: [Field<Root>]
    /// Additional schema keywords for rules that involve more than one field.
    let keywords: [JSONMember]

    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    init(_ meaning: String, _ prototype: Root, _ fields: [Field<Root>], keywords: [JSONMember] = []) {
        self.meaning = meaning
        self.prototype = prototype
        self.fields = fields
        self.keywords = keywords
    }

    /// Parses an object and reports unknown keys, missing keys and every mistake that the fields' rules find. An unknown
    /// key that is similar to a missing one is reported as unknown only.
    ///
    /// - Returns: `nil` if the node is not an object; otherwise the prototype with every valid field filled in.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    func read(_ node: JSONNode, _ path: String, _ log: inout SpecLog) -> Root? {
        guard case .object(let members) = node.content else {
            log.mistake(path, "is \(node.kind), not an object", fix: "write { … }: \(self.meaning)", at: node.position)
            return nil
        }
        var root = self.prototype
        let written = Set(members.map(\.key))
        var present: Set<String> = []
        for member in members {
            let place = SpecPath.join(path, member.key)
            if let field = self.fields.first(where: { $0.key == member.key }) {
                present.insert(field.key)
                log.note(place, at: member.value.position)
                field.read(member.value, place, &root, &log)
            } else if let meant = self.refuse(member, at: place, &log), !written.contains(meant.key),
                present.insert(meant.key).inserted
            {
                // The value counts as the value of the key that was probably meant, so that a misspelt key is one
                // mistake: without it, a missing key and its consequences would be reported as well.
                let right = SpecPath.join(path, meant.key)
                log.noteMisspelt(right, at: member.value.position)
                meant.read(member.value, right, &root, &log)
            }
        }
        for field in self.fields where field.isRequired && !present.contains(field.key) {
            log.mistake(
                SpecPath.join(path, field.key), "is missing", fix: "add \"\(field.key)\": \(field.meaning)",
                at: node.position)
        }
        return root
    }

    /// Parses the body of a request.
    ///
    /// - Parameter check: Reports mistakes that involve more than one member, and completes the value.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    func parse(
        _ bytes: [UInt8], check: (_ root: inout Root, _ log: inout SpecLog) -> Void
    ) -> Result<Root, SpecReport.Refusal> {
        let document = JSONParser.parse(bytes)
        var log = SpecLog()
        document.mistakes.forEach { log.add($0) }
        if let node = document.root {
            log.note("", at: node.position)
            if var root = self.read(node, "", &log) {
                check(&root, &log)
                if log.mistakes.isEmpty { return .success(root) }
            }
        }
        return .failure(SpecReport.Refusal(mistakes: Pipeline.inOrder(log.mistakes)))
    }

    /// Reports an unknown key.
    ///
    /// - Returns: The field that was probably meant; `nil` if no key is similar.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    private func refuse(_ member: JSONMember, at place: String, _ log: inout SpecLog) -> Field<Root>? {
        let known = self.fields.map(\.key)
        let nearest = SpecText.nearest(to: member.key, among: known)
        let fix =
            nearest.map { "did you mean \"\($0)\"?" } ?? "remove it; known here: \(known.joined(separator: ", "))"
        log.mistake(place, "unknown key \(SpecText.quoted(member.key))", fix: fix, at: member.position)
        return self.fields.first { $0.key == nearest }
    }

    /// The keywords of the object's JSON Schema.
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
    /// A rule for an object with the members of `rule`.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
    static func object(_ rule: ObjectRule<Value>) -> ValueRule where Value: Sendable {
        ValueRule(schema: rule.schema, read: { rule.read($0, $1, &$2) })
    }

    /// A rule for an object that `finish` checks and converts after all fields of the object are parsed.
    @_semantics("optimize.sil.specialize.generic.never") @inline(never)
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
