package import MediaTypes

/// A named schema of the API's description: `components.schemas` of `openapi.json`.
///
/// `openapi.json` holds what all of them make; a test compares and renews it.
package struct APISchema: Sendable {
    package let name: String
    /// Empty if the name says it.
    package let meaning: String
    package let shape: JSONShape

    /// A schema whose name says what it is.
    package init(_ name: String, _ shape: JSONShape) { self.init(name, "", shape) }

    /// - Parameter meaning: A description for readers of `openapi.json`.
    package init(_ name: String, _ meaning: String, _ shape: JSONShape) {
        self.name = name
        self.meaning = meaning
        self.shape = shape
    }
}
