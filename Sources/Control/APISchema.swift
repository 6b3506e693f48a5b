package import Events
package import MediaTypes

/// A named schema in the API description: an entry of `components.schemas` in `openapi.json`.
///
/// The schema part of `openapi.json` is generated from all values of this type; a test compares and updates it.
package struct APISchema: Sendable {
    package let name: String
    /// A description for readers of `openapi.json`; empty if the name suffices.
    package let meaning: String
    package let shape: JSONShape

    /// Makes a schema without a description.
    package init(_ name: String, _ shape: JSONShape) { self.init(name, "", shape) }

    /// - Parameter meaning: A description for readers of `openapi.json`.
    package init(_ name: String, _ meaning: String, _ shape: JSONShape) {
        self.name = name
        self.meaning = meaning
        self.shape = shape
    }
}

extension NamedReply {
    /// The schema of the reply, as an entry of the API description.
    package static var schema: APISchema { APISchema(Self.schemaName, Self.shape) }
}
