package import MediaTypes

/// The declaration of an event type: when a room emits such an event, and which members the event has in addition to
/// ``EventDeclaration/common``.
///
/// All declarations are in ``all``. Tests compare them with every place in the code that emits an event, with the
/// events of running rooms and with the guide. `tandem schema --events` and the API's description print them.
package struct EventDeclaration: Sendable {
    /// The event type, for example `source.live`.
    package let type: String
    /// When a room emits the event, as a sentence for the documentation.
    package let meaning: String
    package let members: [JSONField]

    init(_ type: String, _ meaning: String, _ members: [JSONField] = []) {
        self.type = type
        self.meaning = meaning
        self.members = members
    }

    /// The declarations of all event types.
    package static let all = Self.room + Self.program + Self.sources + Self.outputs + Self.recordings + Self.worker

    /// Returns the declaration of an event type; `nil` if there is none.
    package static func of(_ type: String) -> EventDeclaration? { Self.all.first { $0.type == type } }

    /// The members at the beginning of every event, after `type`.
    package static let common: [JSONField] = [
        JSONField("time", .date, "Wall clock of the worker.", example: "2026-01-31T20:00:04.206Z"),
        JSONField("sequence", .range(1...Int64.max), "Counts the events of all workers of the room.", example: 7),
        JSONField("roomId", .string, "The room.", example: "88231"),
        JSONField("incarnation", .count, "Which worker of the room emitted it; 0 before the worker owns the room."),
        JSONField("programTimeMs", .integer, "Program time, in ms; absent before the program starts.", example: 4200)
            .optional,
        JSONField(
            "programDateTime", .date, "Program time as in EXT-X-PROGRAM-DATE-TIME; absent before the program starts.",
            example: "2026-01-31T20:00:04.200Z"
        ).optional,
    ]

    static let compat = JSONField(
        "compat", .open, "Names and codes of other products, if control.compat asks for them.", isOptional: true)

    /// The JSON shape of the event: the common members, those of its type, and `compat`.
    package var shape: JSONShape {
        .object([JSONField("type", .words([self.type]))] + Self.common + self.members + [Self.compat])
    }

    /// The name of the event's JSON schema, such as `SourceLostFinalEvent` for `source.lost_final`.
    package var schemaName: String {
        self.type.split { $0 == "." || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            + "Event"
    }

    /// Returns the JSON schema of the event: the members of ``base(_:)`` and those of its type, with its meaning and an
    /// example.
    package func schema(_ definitions: String) -> JSONValue {
        .object(
            [
                .init("description", .string(self.meaning)),
                .init("allOf", [["$ref": .string(definitions + Self.baseName)]]),
            ] + Self.members([JSONField("type", .words([self.type]))] + self.members, definitions)
                + [.init("unevaluatedProperties", false), .init("examples", [self.example])])
    }

    private static let baseName = "Event"

    /// Returns the JSON schema of the members that all events have.
    static func base(_ definitions: String) -> JSONValue.Member {
        let fields = [JSONField("type", .string, "The event's type.")] + Self.common + [Self.compat]
        return .init(Self.baseName, .object(Self.members(fields, definitions)))
    }

    /// Returns the keywords of a JSON schema for an object that may have further members.
    private static func members(_ fields: [JSONField], _ definitions: String) -> [JSONValue.Member] {
        guard case .object(let keywords) = JSONShape.object(fields).schema(definitions) else { return [] }
        return keywords.filter { $0.name != "additionalProperties" }
    }

    /// An example event of the type, with all common members and without the optional members of the type.
    package var example: JSONValue {
        let defined = Dictionary(Self.shapes.map { ($0.name, $0.shape) }) { first, _ in first }
        let members = Self.common + self.members.filter { !$0.isOptional }
        return .object(
            [.init("type", .string(self.type))] + members.map { .init($0.name, $0.example(defined)) })
    }

    /// The JSON Schema document of a line of the event stream, which can be an event of any type.
    ///
    /// Spec: JSON Schema 2020-12.
    package static var document: JSONValue {
        let definitions = "#/$defs/"
        return [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Tandem events",
            "description": "One line of a room's events, and the data of each webhook request.",
            "oneOf": Self.references(definitions),
            "$defs": .object(
                Self.shapes.map { .init($0.name, $0.shape.schema(definitions)) } + Self.definitions(definitions)),
        ]
    }

    /// Returns references to the JSON schemas of all event types.
    package static func references(_ definitions: String) -> JSONValue {
        .array(Self.all.map { ["$ref": .string(definitions + $0.schemaName)] })
    }

    /// Returns the JSON schemas of all event types and of their common members, by name, without ``shapes``.
    package static func definitions(_ definitions: String) -> [JSONValue.Member] {
        [Self.base(definitions)] + Self.all.map { .init($0.schemaName, $0.schema(definitions)) }
    }
}
