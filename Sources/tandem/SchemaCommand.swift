import ArgumentParser
import Events
import MediaTypes
import PipelineSpec

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the pipeline file, or of events.",
        discussion: """
            Editors use it to complete and check a pipeline file:

                tandem schema > schema.json

            The schema of events contains every type with its members and an example:

                tandem schema --events
            """)

    @Flag(help: "Print the schema of events: those on standard output, of GET /v1/events and of webhooks.")
    var events = false

    func run() throws {
        try StandardOutput.write(self.events ? Self.eventSchema : PipelineSchema.json())
    }

    private static var eventSchema: String {
        let text = EventDeclaration.document.text
        return (JSONParser.parse(Array(text.utf8)).root?.text(pretty: true) ?? text) + "\n"
    }
}
