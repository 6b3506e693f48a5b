import Events
import Foundation
import MediaTypes
import Testing

import Control
import Room

@Suite("The OpenAPI document: schemas and webhooks generated from declarations")
struct OpenAPISchemaTests {
    private static let file = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/Control/openapi.json")

    /// Start of the generated part; everything before is written by hand.
    private static let start = "    \"schemas\": "

    /// The generated part, to the end of the file.
    private static var made: String {
        "\(self.text(APISchema.components, indentation: 4, column: self.start.count))\n  },\n  \"webhooks\": "
            + "\(self.text(APISchema.webhooks, indentation: 2, column: 14))\n}\n"
    }

    private static let width = 120

    /// JSON over several lines, except for objects and arrays that fit on one.
    ///
    /// - Parameters:
    ///   - indentation: Indentation of the line in which the value starts.
    ///   - column: Column in that line.
    private static func text(_ value: JSONValue, indentation: Int, column: Int) -> String {
        let line = Self.line(value)
        if column + line.count < Self.width { return line }
        let inner = indentation + 2
        let space = String(repeating: " ", count: inner)
        let (open, close, lines): (String, String, [String])
        switch value {
        case .object(let members):
            (open, close) = ("{", "}")
            lines = members.map { member in
                let key = "\(space)\(JSONValue.string(member.name).text): "
                return key + Self.text(member.value, indentation: inner, column: key.count)
            }
        case .array(let elements):
            (open, close) = ("[", "]")
            lines = elements.map { space + Self.text($0, indentation: inner, column: inner) }
        default: return line
        }
        return "\(open)\n\(lines.joined(separator: ",\n"))\n\(String(repeating: " ", count: indentation))\(close)"
    }

    private static func line(_ value: JSONValue) -> String {
        switch value {
        case .object(let members):
            "{\(members.map { "\(JSONValue.string($0.name).text): \(Self.line($0.value))" }.joined(separator: ", "))}"
        case .array(let elements): "[\(elements.map(Self.line).joined(separator: ", "))]"
        default: value.text
        }
    }

    @Test("the schemas and webhooks in openapi.json equal what the declarations generate")
    func golden() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let start = try #require(text.range(of: Self.start))
        let new = text[..<start.upperBound] + Self.made
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try String(new).write(to: Self.file, atomically: true, encoding: .utf8)
        }
        let isSame = text == new
        #expect(isSame, "Sources/Control/openapi.json is out of date: accept the new schemas with UPDATE_GOLDEN=1")
    }

    @Test(
        "in openapi.json every JSON reply of 2xx except two documents refers to a declared schema by name; no two schemas share a name"
    )
    func names() throws {
        let root = try JSONSerialization.jsonObject(with: try Data(contentsOf: Self.file)) as? [String: Any]
        let paths = try #require(root?["paths"] as? [String: [String: [String: Any]]])
        var judged = 0
        for (path, methods) in paths {
            for (method, operation) in methods {
                let responses = try #require(operation["responses"] as? [String: [String: Any]])
                for (status, response) in responses where status.hasPrefix("2") {
                    let media = (response["content"] as? [String: [String: Any]])?["application/json"]
                    // These are described by the pipeline's schema and by OpenAPI itself.
                    guard let media, !["/v1/document", "/openapi.json"].contains(path) else { continue }
                    let name = (media["schema"] as? [String: Any])?["$ref"] as? String ?? ""
                    let known = APISchema.all.map { "#/components/schemas/\($0.name)" }
                    #expect(known.contains(name), "\(method) \(path) \(status)")
                    judged += 1
                }
            }
        }
        #expect(judged > 35)
        #expect(Set(APISchema.all.map(\.name)).count == APISchema.all.count)
    }

    /// Differences between a reply and its schema in openapi.json: members that are missing, not declared, or of another type.
    private static func faults<Made: NamedReply>(_ reply: Made) throws -> [String] {
        let root = try JSONSerialization.jsonObject(with: try Data(contentsOf: Self.file)) as? [String: Any]
        let schemas = (root?["components"] as? [String: Any])?["schemas"] as? [String: Any]
        let schema = try #require(schemas?[Made.schemaName] as? [String: Any], "\(Made.schemaName)")
        let properties = try #require(schema["properties"] as? [String: [String: Any]])
        let required = try #require(schema["required"] as? [String])
        guard case .object(let members) = reply.json else { return ["no object"] }
        let missing = Set(required).subtracting(members.map(\.name)).map { "\($0) is missing" }
        return missing
            + members.compactMap { member in
                guard let declared = properties[member.name] else { return "\(member.name) is not declared" }
                let types = declared["type"] as? [String] ?? (declared["type"] as? String).map { [$0] } ?? []
                return types.contains(Self.type(of: member.value)) ? nil : "\(member.name) is no \(types)"
            }
    }

    private static func type(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .integer: "integer"
        case .thousandths, .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    @Test(
        "replies to program, scene, document and metadata commands have the expected members in order, as their schemas declare them"
    )
    func replies() throws {
        let effect = EffectTime(tick: 7, appliesAt: "2026-01-31T20:00:00.000Z", programTimeMs: 280)
        let program = ProgramReply(sceneID: "pk", changed: false, effect: effect)
        #expect(
            program.json.text
                == #"{"sceneId":"pk","changed":false,"tick":7,"appliesAt":"2026-01-31T20:00:00.000Z","programTimeMs":280}"#
        )
        #expect(try Self.faults(program) == [])
        var scene = SceneReply(sceneID: "pk", revision: 5, changed: true, effect: nil, warnings: ["a: b"])
        #expect(scene.json.text == #"{"sceneId":"pk","revision":5,"changed":true,"warnings":["a: b"]}"#)
        #expect(try Self.faults(scene) == [])
        scene.effect = EffectTime()
        #expect(
            scene.json.text
                == #"{"sceneId":"pk","revision":5,"changed":true,"tick":null,"appliesAt":null,"programTimeMs":null,"#
                + #""warnings":["a: b"]}"#)
        #expect(try Self.faults(scene) == [])
        let document = DocumentReply(
            revision: 8, changed: false, isDryRun: true, applied: ["pk"], effect: nil, warnings: [])
        #expect(
            document.json.text == #"{"revision":8,"changed":false,"dryRun":true,"applied":["pk"],"warnings":[]}"#)
        #expect(try Self.faults(document) == [])
        let metadata = MetadataReply(id: "g", type: "gift", changed: true, effect: EffectTime())
        #expect(
            metadata.json.text
                == #"{"id":"g","type":"gift","changed":true,"tick":null,"appliesAt":null,"programTimeMs":null}"#)
        #expect(try Self.faults(metadata) == [])
    }
}
