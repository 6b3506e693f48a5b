package import Events
package import MediaTypes

/// A named schema in the API description: an entry of `components.schemas` in `openapi.json`.
///
/// The schema part of `openapi.json` is generated from all of them; a test compares and updates it.
package struct APISchema: Sendable {
    package let name: String
    /// Empty if the name says it.
    package let meaning: String
    package let shape: JSONShape

    /// A schema without a description.
    package init(_ name: String, _ shape: JSONShape) { self.init(name, "", shape) }

    /// - Parameter meaning: A description for readers of `openapi.json`.
    package init(_ name: String, _ meaning: String, _ shape: JSONShape) {
        self.name = name
        self.meaning = meaning
        self.shape = shape
    }
}

extension NamedReply {
    /// Its schema, for ``APISchema``.
    package static var schema: APISchema { APISchema(Self.schemaName, Self.shape) }
}
