import ArgumentParser
import Origin
import PipelineSpec
import Room
import Threading

struct SignURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-url",
        abstract: "Sign a URL for viewers of a room that requires signed URLs.",
        discussion: """
            The secret is the one in outputs[].http.signedUrls of the pipeline. The signature permits everything below
            --scope until it expires; playlists add the query to all their URLs, including keys.

                tandem sign-url room.json https://live.example.com/index.m3u8 \\
                  --expires-in 3600

            Your own server can sign without this program. The query is exp=SECOND&scope=PATH&sig=HEX; sig is the
            HMAC-SHA256 of four lines, without a line break at the end; scope can be omitted if it is /:

                printf 'tandem-playback\\n%s\\n%s\\n%s' "$ROOM" / "$SECOND" |
                  openssl dgst -sha256 -hmac "$SECRET"

            Players that stay longer than a signature is valid need a new one: with hls.js, set it in xhrSetup for every
            request. Several lines in the secret are several secrets: the first one signs, and all are accepted, so that
            a secret can be replaced. Invalid requests get 403 with the reason.

            Exit codes: 0 signed · 64 flags · 65 pipeline · 66 no such file · 74 standard output cannot be
            written.
            """)

    @Argument(help: "The pipeline file; - is standard input.")
    var pipeline: String

    @Argument(help: "The URL to sign.")
    var url: String

    @Option(name: .long, help: ArgumentHelp("Override a value of the file, repeatable.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: ArgumentHelp("How long the signature is valid (1…31536000).", valueName: "seconds"))
    var expiresIn: Int = 3600

    @Option(help: "The path below which the signature is valid.")
    var scope = "/"

    func run() throws {
        guard (1...31_536_000).contains(self.expiresIn) else {
            throw ValidationError("--expires-in \(self.expiresIn): give seconds from 1 to 31536000")
        }
        guard self.scope.hasPrefix("/"), self.scope.utf8.count <= 256 else {
            throw ValidationError("--scope \(self.scope): give a path that begins with a slash")
        }
        let pipeline = try PipelineLoading.load(self.pipeline, set: self.set)
        let found: SignedURLVerifier?
        do {
            found = try pipeline.playbackGate(wall: Clocks.system.wall)
        } catch {
            StandardError.write("\(error)\n")
            throw ExitStatus(error).code
        }
        guard let gate = found else {
            throw ValidationError("the pipeline does not require signed URLs: add outputs[].http.signedUrls")
        }
        let query = gate.query(scope: self.scope, seconds: Int64(self.expiresIn))
        try StandardOutput.write("\(self.url)\(self.url.contains("?") ? "&" : "?")\(query)\n")
    }
}
