import ArgumentParser
import PipelineSpec

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the pipeline file.",
        discussion: """
            Editors complete and check a pipeline file with it:

                tandem schema > schema.json
            """)

    func run() throws {
        try StandardOutput.write(PipelineSchema.json())
    }
}
