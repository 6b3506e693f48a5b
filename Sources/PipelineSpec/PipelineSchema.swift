import MediaTypes

/// The JSON Schema of the pipeline file, generated from the same table that the parser uses.
package enum PipelineSchema {
    /// The schema as pretty-printed JSON that ends with a line break: the content of `pipelines/schema.json`.
    ///
    /// Spec: JSON Schema draft-07.
    package static func json() -> String {
        let root: JSONNode = .object(
            [
                JSONMember("$schema", "http://json-schema.org/draft-07/schema#"),
                JSONMember("title", "Tandem pipeline"),
                JSONMember("description", .string(Pipeline.rule.meaning)),
            ] + Pipeline.rule.schema)
        return root.text(pretty: true) + "\n"
    }
}
