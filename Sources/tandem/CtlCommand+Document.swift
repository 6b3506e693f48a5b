import ArgumentParser
import NIOHTTP1

/// The room's document, seen and changed while it runs.
extension CtlCommand {
    struct Document: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The pipeline file the room runs by, without its secrets.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.GET, "/v1/document") }
    }

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a running room another version of its pipeline file: all of it holds, or nothing.")
        @Argument(help: "The pipeline file; - is standard input.") var pipeline: String
        @Flag(help: "Only say what would change.") var dryRun = false
        @OptionGroup var control: ControlOptions
        func run() async throws {
            let bytes = try PipelineLoading.read(self.pipeline)
            try await self.control.exchange(
                .PUT, "/v1/room?dryRun=\(self.dryRun)", text: String(decoding: bytes, as: UTF8.self))
        }
    }

    struct Patch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change some of a running room's pipeline file, by a JSON merge patch (RFC 7396).",
            discussion: """
                A member replaces, null removes, a list is replaced as a whole.

                    tandem ctl patch '{"room":{"title":"The final"},"program":{"scene":"pk"}}'
                """)
        @Argument(help: "The patch, a JSON object; - is standard input.") var patch: String
        @Flag(help: "Only say what would change.") var dryRun = false
        @OptionGroup var control: ControlOptions
        func run() async throws {
            let text = self.patch == "-" ? String(decoding: try PipelineLoading.read("-"), as: UTF8.self) : self.patch
            try await self.control.exchange(.PATCH, "/v1/room?dryRun=\(self.dryRun)", text: text)
        }
    }
}
