import Events
package import MediaTypes

/// A named schema in the API description: an entry of `components.schemas` in `openapi.json`.
///
/// The schema part of `openapi.json` is generated from ``components`` and ``webhooks``; a test compares and updates it.
package struct APISchema: Sendable {
    package let name: String
    let meaning: String
    package let shape: JSONShape

    /// A schema without a description.
    init(_ name: String, _ shape: JSONShape) { self.init(name, "", shape) }

    init(_ name: String, _ meaning: String, _ shape: JSONShape) {
        self.name = name
        self.meaning = meaning
        self.shape = shape
    }

    /// All schemas except those of event types.
    package static let all: [APISchema] =
        Self.room + Self.sources + [
            ProgramReply.schema, SceneReply.schema, DocumentReply.schema, MetadataReply.schema, LogLevelReply.schema,
        ] + Self.commands + Self.lists
        + EventDeclaration.shapes.map { APISchema($0.name, $0.shape) }
        + [APISchema("CloudEvent", "CloudEvents 1.0.2, in structured mode", CloudEvent.shape)]

    private static let place = "#/components/schemas/"

    /// The value of `components.schemas`, sorted by name.
    package static var components: JSONValue {
        let schemas = Self.all.map { schema -> JSONValue.Member in
            guard case .object(let keywords) = schema.shape.schema(Self.place), !schema.meaning.isEmpty else {
                return .init(schema.name, schema.shape.schema(Self.place))
            }
            return .init(schema.name, .object([.init("description", .string(schema.meaning))] + keywords))
        }
        let anyEvent = JSONValue.Member(
            CloudEvent.dataName, ["oneOf": EventDeclaration.references(Self.place)])
        let events = EventDeclaration.definitions(Self.place) + [anyEvent]
        return .object((schemas + events).sorted { $0.name < $1.name })
    }

    /// The value of `webhooks`: requests that the receivers in `control.events` get.
    package static var webhooks: JSONValue {
        let content: JSONValue = [
            "application/cloudevents+json": ["schema": ["$ref": .string("\(Self.place)CloudEvent")]]
        ]
        return [
            "event": [
                "post": [
                    "operationId": "receiveEvent", "tags": ["watching"],
                    "summary": "an event, sent to a receiver configured in control.events",
                    "requestBody": ["required": true, "content": content],
                    "responses": [
                        "2XX": ["description": "the event was accepted"],
                        "410": ["description": "the receiver does not want any more events"],
                        "default": ["description": "the event is sent again later"],
                    ],
                ]
            ]
        ]
    }
}
