package import Control
import Events
package import MediaTypes
import RoomAPI

extension APISchema {
    /// All schemas of the API's JSON objects except those of event types.
    package static let all: [APISchema] =
        Self.room + Self.sources + Self.control
        + EventDeclaration.shapes.map { APISchema($0.name, $0.shape) }
        + [APISchema("CloudEvent", "CloudEvents 1.0.2, in structured mode", CloudEvent.shape)]

    private static let place = "#/components/schemas/"

    /// The value of `components.schemas` in the OpenAPI document, sorted by name.
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

    /// The value of `webhooks` in the OpenAPI document: the requests that the room sends to the receivers in
    /// `control.events`.
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
