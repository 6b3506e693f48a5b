import Glibc
import MediaTypes
import PipelineSpec
import Testing

@Suite("The JSON Schema of the pipeline file: draft-07")
struct PipelineSchemaTests {
    @Test("pipelines/schema.json equals the generated schema, byte for byte")
    func committedSchema() {
        let text = PipelineSchema.json()
        if getenv("UPDATE_GOLDEN").map({ String(cString: $0) }) == "1" {
            #expect(Documents.write(Array(text.utf8), to: "pipelines/schema.json"))
        }
        let isSame = Documents.read("pipelines/schema.json") == Array(text.utf8)
        #expect(isSame, "pipelines/schema.json is out of date: accept the new schema with UPDATE_GOLDEN=1")
    }

    /// Keywords of draft-07 that have the same meaning in draft 2020-12.
    private static let keywords: Set<String> = [
        "$schema", "title", "description", "default", "type", "enum", "const", "minimum", "maximum", "multipleOf",
        "pattern", "minLength", "maxLength", "items", "minItems", "maxItems", "properties", "required",
        "additionalProperties", "anyOf", "oneOf", "not", "if", "then", "else",
    ]

    @Test("the schema is draft-07 and uses only the keywords of a fixed list")
    func documentedKeywords() throws {
        let schema = try #require(JSONParser.parse(Array(PipelineSchema.json().utf8)).root)
        #expect(schema[key: "$schema"]?.string == "http://json-schema.org/draft-07/schema#")
        #expect(Self.used(schema).subtracting(Self.keywords) == [])
    }

    /// The keywords of a schema and of the schemas in it.
    private static func used(_ schema: JSONNode) -> Set<String> {
        guard case .object(let members) = schema.content else { return [] }
        var keys: Set<String> = []
        for member in members {
            keys.insert(member.key)
            switch (member.key, member.value.content) {
            case ("properties", .object(let properties)):
                for property in properties { keys.formUnion(self.used(property.value)) }
            case ("anyOf", .array(let schemas)), ("oneOf", .array(let schemas)):
                for schema in schemas { keys.formUnion(self.used(schema)) }
            case ("items", _), ("not", _), ("if", _), ("then", _), ("else", _):
                keys.formUnion(self.used(member.value))
            default: break
            }
        }
        return keys
    }

    @Test("the schema has exactly the keys that the parser reads")
    func sameKeys() throws {
        let schema = try #require(JSONParser.parse(Array(PipelineSchema.json().utf8)).root)
        var visited: Set<String> = []
        for text in Documents.full {
            let root = try #require(JSONParser.parse(Array(text.utf8)).root)
            try self.compare(root, schema, at: "", in: text, &visited)
        }
        let unshown = visited.symmetricDifference(Self.properties(schema, "")).sorted()
        #expect(unshown == [], "a document must show every key")
    }

    /// Compares the schema's keys with those that the parser lists when an object has an unknown key.
    private func compare(
        _ node: JSONNode, _ schema: JSONNode, at path: String, in text: String, _ visited: inout Set<String>
    ) throws {
        switch node.content {
        case .array(let elements):
            guard let items = schema[key: "items"] else { return }
            for (index, element) in elements.enumerated() {
                try self.compare(element, items, at: "\(path)[\(index)]", in: text, &visited)
            }
        case .object(let members):
            let shape = Self.shape(of: node, schema)
            guard let shape, case .object(let properties)? = shape[key: "properties"]?.content else { return }
            let probe = path.isEmpty ? "qqqqqqqqqqqq" : "\(path).qqqqqqqqqqqq"
            let report = Pipeline.parse(text, overrides: [SpecOverride(path: probe, value: "1")])
            let fix = try #require(report.mistakes.first { $0.path == probe }?.fix)
            let known = try #require(fix.split(separator: "known here: ").last).split(separator: ", ").map(String.init)
            #expect(known == properties.map(\.key), "\(path)")
            for member in members {
                let property = try #require(properties.first { $0.key == member.key }, "\(path).\(member.key)")
                visited.insert("\(Self.generic(path)).\(member.key)")
                try self.compare(
                    member.value, property.value, at: path.isEmpty ? member.key : "\(path).\(member.key)", in: text,
                    &visited)
            }
        default: break
        }
    }

    /// The alternative that matches the `type` of the object, if there are several.
    private static func shape(of node: JSONNode, _ schema: JSONNode) -> JSONNode? {
        guard case .array(let alternatives)? = schema[key: "oneOf"]?.content, schema[key: "properties"] == nil else {
            return schema
        }
        let type = node[key: "type"]?.string ?? "hls"
        let format = node[key: "segmentFormat"]?.string ?? "fmp4"
        return alternatives.first {
            let properties = $0[key: "properties"]
            return properties?[key: "type"]?[key: "const"]?.string == type
                && (properties?[key: "segmentFormat"]?[key: "const"]?.string ?? format) == format
        }
    }

    private static func properties(_ schema: JSONNode, _ path: String) -> Set<String> {
        var found: Set<String> = []
        if case .array(let alternatives)? = schema[key: "oneOf"]?.content, schema[key: "properties"] == nil {
            for alternative in alternatives { found.formUnion(self.properties(alternative, path)) }
        }
        if let items = schema[key: "items"] { found.formUnion(self.properties(items, path)) }
        guard case .object(let members)? = schema[key: "properties"]?.content else { return found }
        for member in members {
            found.insert("\(path).\(member.key)")
            found.formUnion(self.properties(member.value, path.isEmpty ? member.key : "\(path).\(member.key)"))
        }
        return found
    }

    private static func generic(_ path: String) -> String {
        var isIndex = false
        return String(
            path.filter { character in
                if character == "[" { isIndex = true }
                defer { if character == "]" { isIndex = false } }
                return !isIndex
            })
    }

    @Test("removing a key from a full file, except some with defaults, changes the parsed pipeline or causes an error")
    func everyKeyCounts() throws {
        let text = Documents.full[0]
        let root = try #require(JSONParser.parse(Array(text.utf8)).root)
        let whole = try #require(Pipeline.parse(text).pipeline)
        // These have only one value, or the fixture contains the default that tells two kinds apart.
        let fixed = [
            "$schema", "apiVersion", "clock", "audio.sampleRate", "audio.channels", "sources[0].streamType",
            "sources[0].type",
            "renditions[0].fps",
            "renditions[0].video.codec", "renditions[0].video.encoder", "renditions[0].video.encoderFallback",
            "outputs[0].type",
            "outputs[8].type", "outputs[5].lowLatency", "outputs[6].lowLatency",
            "outputs[5].segmentFormat", "outputs[6].segmentFormat",
            "audioRenditions[0].codec", "audioRenditions[0].profile",
        ]
        var silent: [String] = []
        for path in Self.keys(root, "") where !path.hasPrefix("ext") {
            var copy = root
            Self.remove(path, "", &copy)
            if Pipeline.parse(copy.text()).pipeline == whole { silent.append(path) }
        }
        #expect(Set(silent).subtracting(Set(fixed).union(["audio"])) == [], "these keys have no effect")
    }

    private static func keys(_ node: JSONNode, _ path: String) -> [String] {
        switch node.content {
        case .array(let elements):
            elements.enumerated().flatMap { self.keys($0.element, "\(path)[\($0.offset)]") }
        case .object(let members):
            members.flatMap { member in
                let place = path.isEmpty ? member.key : "\(path).\(member.key)"
                return [place] + self.keys(member.value, place)
            }
        default: []
        }
    }

    private static func remove(_ target: String, _ path: String, _ node: inout JSONNode) {
        switch node.content {
        case .array(var elements):
            for index in elements.indices { self.remove(target, "\(path)[\(index)]", &elements[index]) }
            node.content = .array(elements)
        case .object(var members):
            members.removeAll { (path.isEmpty ? $0.key : "\(path).\($0.key)") == target }
            for index in members.indices {
                self.remove(
                    target, path.isEmpty ? members[index].key : "\(path).\(members[index].key)", &members[index].value)
            }
            node.content = .object(members)
        default: break
        }
    }
}
