import ArgumentParser
import MediaTypes
import PipelineSpec
import PublishAuth
import Secrets
import Threading

struct SignKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-key",
        abstract: "Sign a stream key for a publisher of a room that accepts signed keys.",
        usage: """
            tandem sign-key <pipeline> <source> [options]
            tandem sign-key --room <id> --secret-file <file> <source> [options]
            """,
        discussion: """
            The room accepts signed keys if its pipeline has "ingest": { "auth": { "type": "hmac", "secretFile": "FILE" } }.
            Prints what the publisher enters in an encoder, with OBS Studio's names: server and stream key. The key is
            valid until it expires; with "singleUse" in the pipeline, for one publication only.

                tandem sign-key room.json 1001 --server rtmp://live.example.com/live
                tandem sign-key room.json 1001/sub --expires-in 300 --json

            The secret is that of the pipeline. A server that issues keys and has no pipeline names room and secret
            itself. A secret is read from a file or a variable, never from the command line, which other users can see:

                tandem sign-key --room 88231 --secret-file keys/signing 1001
                SIGNING=… tandem sign-key --room 88231 --secret-env SIGNING 1001 --json

            Your own server can sign without this program. The key is SOURCE?e=SECOND&n=NONCE&s=SIGNATURE; the signature is
            the HMAC-SHA256 of rtmp1|ROOM|SOURCE|SECOND|NONCE, in base64url without padding. SOURCE is percent-encoded in
            both, except letters, digits, - . _ ~ and the slash of a stream type. examples/keys has functions in Python
            and TypeScript, and test vectors.

            Several lines in the secret are several secrets: the first one signs, and all are accepted, so that a secret
            can be replaced.

            Exit codes: 0 signed · 64 flags, or the room does not accept such keys · 65 pipeline or secret · 66 no such
            file or variable · 74 standard output cannot be written.
            """)

    @Argument(help: "The pipeline file; - is standard input. Omitted with --room.")
    var pipeline: String

    @Argument(help: "The source that the key is for: its uid, or uid/streamType, not percent-encoded.")
    var source: String?

    @Option(help: ArgumentHelp("Sign for this room, without a pipeline.", valueName: "id"))
    var room: String?

    @Option(help: ArgumentHelp("File with the secret, instead of the pipeline's secret.", valueName: "file"))
    var secretFile: String?

    @Option(help: ArgumentHelp("Environment variable with the secret, instead of the pipeline's.", valueName: "name"))
    var secretEnv: String?

    @Option(name: .long, help: ArgumentHelp("Override a value of the file, repeatable.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: ArgumentHelp("How long the key is valid (1…31536000; default: 3600).", valueName: "seconds"))
    var expiresIn: Int?

    @Option(help: ArgumentHelp("Unix time until which the key is valid, instead of --expires-in.", valueName: "second"))
    var expires: Int64?

    @Option(help: ArgumentHelp("The nonce, which makes the key unique (default: 128 random bits).", valueName: "text"))
    var nonce: String?

    @Option(
        help: ArgumentHelp(
            "The server as publishers reach it, rtmp://HOST[:PORT]/APP (default: the room's listener on this machine).",
            valueName: "url"))
    var server: String?

    @Flag(help: "Write JSON.")
    var json = false

    /// Validity of a key without --expires-in and --expires, in seconds.
    private static let usualValidity = 3_600

    func validate() throws {
        switch (self.room, self.source) {
        case (nil, nil): throw ValidationError("name the source: tandem sign-key PIPELINE SOURCE")
        case (_?, _?): throw ValidationError("--room replaces the pipeline file: tandem sign-key --room ID SOURCE")
        case (let room?, nil):
            guard self.secretFile != nil || self.secretEnv != nil else {
                throw ValidationError("--room \(room): give --secret-file or --secret-env")
            }
            guard self.set.isEmpty else {
                throw ValidationError("--room replaces the pipeline file, which --set would change")
            }
            guard (1...64).contains(room.utf8.count),
                room.utf8.allSatisfy({ $0 == 0x2d || $0 == 0x2e || $0 == 0x5f || Self.isAlphanumeric($0) })
            else { throw ValidationError("--room \(room): write 1 to 64 letters, digits, _ . or -") }
        case (nil, _?): break
        }
        guard self.secretFile == nil || self.secretEnv == nil else {
            throw ValidationError("give --secret-file or --secret-env, not both")
        }
        guard self.expires == nil || self.expiresIn == nil else {
            throw ValidationError("give --expires or --expires-in, not both")
        }
        if let seconds = self.expiresIn, !(1...31_536_000).contains(seconds) {
            throw ValidationError("--expires-in \(seconds): give seconds from 1 to 31536000")
        }
        if let second = self.expires, !(1...IssuedKey.latestExpiry).contains(second) {
            throw ValidationError("--expires \(second): give Unix time in seconds")
        }
        if let nonce = self.nonce, !IssuedKey.isNonce(nonce) {
            throw ValidationError(
                "--nonce \(nonce): write 1 to \(IssuedKey.longestNonce) letters, digits and - . _ ~")
        }
        if let server = self.server {
            guard RTMPURL(server + "/key", allowsTLS: true) != nil, !server.contains("?"), !server.hasSuffix("/"),
                server.split(separator: "/").count >= 3
            else { throw ValidationError("--server \(server): write it as rtmp://HOST:PORT/live, or rtmps://…") }
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: false
        }
    }

    func run() throws {
        let now = Clocks.system.wall.now() / TimeMath.nanoseconds
        let expiry = self.expires ?? now + Int64(self.expiresIn ?? Self.usualValidity)
        if expiry <= now { StandardError.write("note: the key has expired already; give a later --expires\n") }
        let room = try self.place()
        let secret = try self.signingSecret(of: room)
        var random = SystemRandomNumberGenerator()
        let nonce = self.nonce ?? IssuedKey.makeNonce(using: &random)
        let source = self.room == nil ? self.source ?? "" : self.pipeline
        guard let key = IssuedKey(secret: secret, room: room.id, source: source, expiry: expiry, nonce: nonce) else {
            throw ValidationError("\(source): no room can accept a key for this name; give uid or uid/streamType")
        }
        let server = self.server ?? room.server
        try StandardOutput.write(
            self.json
                ? key.json(server: server, app: room.app, isSingleUse: room.isSingleUse).text + "\n"
                : key.text(server: server, app: room.app, isSingleUse: room.isSingleUse))
    }

    /// The room for which a key is signed.
    private struct Room {
        var id: String
        var secret: Secret?
        var server = "rtmp://127.0.0.1:1935/live"
        var app = "live"
        var isSingleUse: Bool?
    }

    private func place() throws -> Room {
        if let room = self.room { return Room(id: room) }
        let pipeline = try PipelineLoading.load(self.pipeline, set: self.set)
        let ingest = pipeline.ingest
        guard let auth = ingest.auth else {
            throw ValidationError("the pipeline does not accept signed keys: add ingest.auth")
        }
        guard auth.type == .hmac else {
            throw ValidationError(
                "ingest.auth.type is \(auth.type.rawValue): sign keys with its issuer's software; sign-key makes only "
                    + "keys of type hmac")
        }
        if let source = self.source {
            let names = pipeline.sources.compactMap { each -> String? in
                if case .rtmp = each.input { each.id.description } else { nil }
            }
            if !names.contains(source) {
                let others = names.isEmpty ? "" : "; it has \(names.joined(separator: ", "))"
                StandardError.write(
                    "note: the pipeline has no source \(SpecText.quoted(source)) that publishers connect to\(others). "
                        + "The room refuses the key until the source is added\n")
            }
        }
        var room = Room(
            id: pipeline.room.roomID, secret: auth.secret, app: ingest.rtmp.app, isSingleUse: auth.singleUse)
        if let listen = ingest.rtmp.listen {
            room.server = "\(listen.url(scheme: "rtmp"))/\(room.app)"
        } else if let listen = ingest.rtmps?.listen {
            room.server = "\(listen.url(scheme: "rtmps"))/\(room.app)"
        }
        return room
    }

    /// Returns the first line of the secret that the options name, otherwise of the pipeline's; it signs the key.
    private func signingSecret(of room: Room) throws -> String {
        let named = self.secretFile.map { Secret.file($0) } ?? self.secretEnv.map { Secret.env($0) } ?? room.secret
        do throws(MediaError) {
            return try named?.lines(place: "ingest.auth").first ?? ""
        } catch {
            StandardError.write("\(error)\n")
            throw ExitStatus(error).code
        }
    }
}
