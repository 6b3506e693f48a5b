import ArgumentParser
import NIOHTTP1

/// Commands that show and change the room's pipeline document while it runs.
extension CtlCommand {
    struct Document: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the room's current pipeline file, without its secrets.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.GET, "/v1/document", as: .document) }
    }

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the pipeline file of a running room; either all changes apply, or none.")
        @Argument(help: "The pipeline file; - is standard input.") var pipeline: String
        @Flag(help: "Only print what would change.") var dryRun = false
        @OptionGroup var control: ControlOptions
        func run() async throws {
            let bytes = try PipelineLoading.read(self.pipeline)
            try await self.control.exchange(
                .PUT, "/v1/room?dryRun=\(self.dryRun)", text: String(decoding: bytes, as: UTF8.self))
        }
    }

    struct Patch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change parts of a running room's pipeline file with a JSON merge patch (RFC 7396).",
            discussion: """
                A member replaces the old value, null removes it; lists are replaced as a whole.

                    tandem ctl patch '{"room":{"title":"The final"},"program":{"scene":"pk"}}'
                """)
        @Argument(help: "The patch, a JSON object; - is standard input.") var patch: String
        @Flag(help: "Only print what would change.") var dryRun = false
        @OptionGroup var control: ControlOptions
        func run() async throws {
            let text = self.patch == "-" ? String(decoding: try PipelineLoading.read("-"), as: UTF8.self) : self.patch
            try await self.control.exchange(.PATCH, "/v1/room?dryRun=\(self.dryRun)", text: text)
        }
    }
}
