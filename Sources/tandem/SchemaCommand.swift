import ArgumentParser
import Events
import MediaTypes
import PipelineSpec

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the pipeline file, or of events.",
        discussion: """
            Editors complete and check a pipeline file with it:

                tandem schema > schema.json

            Programs that read a room's events find every type, its members and an example in this one:

                tandem schema --events
            """)

    @Flag(help: "Print the schema of events, on standard output, of GET /v1/events and of webhooks.")
    var events = false

    func run() throws {
        try StandardOutput.write(self.events ? Self.eventSchema : PipelineSchema.json())
    }

    private static var eventSchema: String {
        let text = EventDeclaration.document.text
        return (JSONParser.parse(Array(text.utf8)).root?.text(pretty: true) ?? text) + "\n"
    }
}
