import ArgumentParser
import Origin
import PipelineSpec
import Room

struct SignURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-url",
        abstract: "Sign a viewer's URL of a room whose viewers' listener asks for it.",
        discussion: """
            The secret is the one that the pipeline's outputs[].http.signedUrls names. What it lets in is everything below
            --scope until it expires.

                tandem sign-url room.json https://live.example.com/index.m3u8 --expires-in 3600
            """)

    @Argument(help: "The pipeline file; - is standard input.")
    var pipeline: String

    @Argument(help: "The URL to be signed.")
    var url: String

    @Option(name: .long, help: ArgumentHelp("Override a value of the file, repeatable.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: ArgumentHelp("How long it is good (1…31536000).", valueName: "seconds"))
    var expiresIn: Int = 3600

    @Option(help: "The path it is good below.")
    var scope = "/"

    func run() throws {
        guard (1...31_536_000).contains(self.expiresIn) else {
            throw ValidationError("--expires-in \(self.expiresIn): give seconds from 1 to 31536000")
        }
        guard self.scope.hasPrefix("/"), self.scope.utf8.count <= 256 else {
            throw ValidationError("--scope \(self.scope): give a path that begins with a slash")
        }
        let pipeline = try PipelineLoading.load(self.pipeline, set: self.set)
        guard let gate = try pipeline.playbackGate() else {
            throw ValidationError("the pipeline's viewers need no signed URLs: outputs[].http.signedUrls is not there")
        }
        let query = gate.query(scope: self.scope, seconds: Int64(self.expiresIn))
        print("\(self.url)\(self.url.contains("?") ? "&" : "?")\(query)")
    }
}
