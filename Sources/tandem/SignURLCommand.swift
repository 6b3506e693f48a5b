import ArgumentParser
import Origin
import PipelineSpec
import Room
import Stages

struct SignURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-url",
        abstract: "Sign a viewer's URL of a room whose viewers' listener asks for it.",
        discussion: """
            The secret is the one that the pipeline's outputs[].http.signedUrls names. What it lets in is everything below
            --scope until it expires: playlists carry the query on to everything they name, keys too.

                tandem sign-url room.json https://live.example.com/index.m3u8 --expires-in 3600

            Your own server signs without this program. The query is exp=SECOND&scope=PATH&sig=HEX; sig is HMAC-SHA256 over
            four lines, without a line break at the end, and scope may be left out where it is /:

                printf 'tandem-playback\\n%s\\n%s\\n%s' "$ROOM" / "$SECOND" | openssl dgst -sha256 -hmac "$SECRET"

            Players that stay longer than a signature is good for need the next one: hls.js takes it in xhrSetup, which
            puts it into every request. Several lines in the secret are several secrets: the first one signs, all are good,
            so that one can follow another. Answers: 403 with the reason, and nothing else is told.

            Exit codes: 0 signed · 64 flags · 65 pipeline · 66 no such file · 74 standard output
            takes nothing.
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
        let found: PlaybackGate?
        do {
            found = try pipeline.playbackGate(wall: Clocks.system.wall)
        } catch {
            StandardError.write("\(error)\n")
            throw ExitStatus(error).code
        }
        guard let gate = found else {
            throw ValidationError("the pipeline's viewers need no signed URLs: outputs[].http.signedUrls is not there")
        }
        let query = gate.query(scope: self.scope, seconds: Int64(self.expiresIn))
        try StandardOutput.write("\(self.url)\(self.url.contains("?") ? "&" : "?")\(query)\n")
    }
}
