import ArgumentParser
import MediaTypes
import NIOHTTP1
import TerminalText

/// Options of every subcommand of `tandem ctl`.
struct ControlOptions: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The control address, as in \"control\" of the event room.ready.", valueName: "address"))
    var address = "http://127.0.0.1:8081"

    @Option(help: ArgumentHelp("File with the bearer token, if the room needs one.", valueName: "file"))
    var tokenFile: String?

    @Flag(help: "Print replies as JSON on a terminal, too.") var json = false

    /// Whether replies are printed for people: on a terminal without `--json`.
    var isForPeople: Bool { TerminalOutput.isTerminal && !self.json }

    var client: ControlClient {
        get throws { try ControlClient(self.address, tokenFile: self.tokenFile) }
    }

    /// Sends a request and prints the reply: a success on standard output, a failure on standard error.
    ///
    /// - Parameter kind: How a success is printed for people.
    func exchange(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, as kind: ReplyText.Kind = .members
    ) async throws {
        try await self.exchange(method, path, text: body?.text, as: kind)
    }

    /// Sends a request whose body is already text, and prints the reply: a success on standard output, a failure on
    /// standard error.
    func exchange(
        _ method: HTTPMethod, _ path: String, text: String?, as kind: ReplyText.Kind = .members
    ) async throws {
        let answer = try await self.send(method, path, text)
        guard self.isForPeople else { return try StandardOutput.write(answer.text) }
        try StandardOutput.write(ReplyText(style: TerminalOutput.style).text(answer.body, kind))
    }

    /// Sends a request and returns the reply to it if it is a success.
    ///
    /// - Throws: `ExitCode` 1 or 69 after writing the reason to standard error, and the errors of
    ///   ``ControlClient/init(_:tokenFile:)``.
    func send(_ method: HTTPMethod, _ path: String, _ text: String? = nil) async throws -> ControlClient.Answer {
        let client = try self.client
        let answer: ControlClient.Answer
        do {
            answer = try await client.send(method, path, body: text)
        } catch {
            StandardError.write(
                "\(self.address) does not answer: \(ConnectionText.of(error)). Fix: check that the room runs; give --address, the control page "
                    + "that the room printed (\"control\" of its event room.ready)\n"
            )
            throw ExitStatus.unavailable.code
        }
        guard answer.isGood else {
            self.report(answer.body)
            throw ExitCode(1)
        }
        return answer
    }

    /// Writes a refusal of the room to standard error: as it is, or in words on a terminal.
    func report(_ refusal: [UInt8]) {
        let isForPeople = StandardError.isTerminal && !self.json
        StandardError.write(isForPeople ? ReplyText.refusal(refusal) : String(decoding: refusal, as: UTF8.self))
    }

    /// Prints streamed data, one item per line, until the room closes the connection.
    ///
    /// - Parameter print: Writes an item for people.
    func follow(_ path: String, print: (String) throws -> Void) async throws {
        let client = try self.client
        do {
            try await client.follow(path) { item in
                if self.isForPeople { try print(item) } else { try StandardOutput.write(item + "\n") }
            }
        } catch let refusal as ControlRefusal {
            self.report(Array(refusal.text.utf8))
            throw ExitCode(1)
        } catch let code as ExitCode {
            throw code
        } catch {
            StandardError.write(
                "\(self.address): \(ConnectionText.of(error)). Fix: check that the room runs; give --address, the control page "
                    + "that the room printed (\"control\" of its event room.ready)\n")
            throw ExitStatus.unavailable.code
        }
    }
}

/// The source that a subcommand of `tandem ctl` applies to.
struct SourceOptions: ParsableArguments {
    enum Stream: String, ExpressibleByArgument, CaseIterable { case main, sub }

    @Argument(help: "uid of the source.") var uid: String
    @Option(help: "Stream type of the source: main or sub.") var streamType = Stream.main
    @OptionGroup var control: ControlOptions

    /// Returns the path of the source in the control API, with `verb` appended.
    ///
    /// - Parameter verb: Verb at the end of the path, such as `:kick`; empty: none.
    func path(_ verb: String = "") -> String {
        let query = self.streamType == .main ? "" : "?streamType=\(self.streamType.rawValue)"
        return "/v1/sources/\(PercentEncoding.encode(self.uid))\(verb)\(query)"
    }
}

struct CtlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl",
        abstract: "Inspect and control a running room.",
        discussion: """
            Replies are tables on a terminal. In a pipe or a file, and with --json, they are JSON as the API sends it.
            Failures are printed on standard error, with exit code 1; exit code 69 means that the room does not answer.

                tandem ctl state -a http://127.0.0.1:8081
                tandem ctl state -a http://127.0.0.1:8081 | jq .state
                tandem ctl watch -a http://127.0.0.1:8081
                tandem ctl scene pk -a http://127.0.0.1:8081
                tandem ctl events --follow -a unix:/run/tandem/88231/control.sock
            """,
        subcommands: [
            State.self, Watch.self, Stats.self, Metrics.self, Events.self, Alarms.self, SceneVerb.self, Source.self,
            Kick.self, Recording.self, PK.self, Text.self, Score.self, Restart.self, Start.self, Stop.self,
            Keyframe.self, Demand.self, Document.self,
            Apply.self, Patch.self, Logs.self, LogLevelVerb.self, Version.self, End.self, Drain.self,
        ])

    struct State: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the state of the room.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.GET, "/v1/room", as: .room) }
    }

    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print statistics of every source and of the program.")
        @Flag(help: "Include counters of repaired and dropped data.") var debug = false
        @Flag(help: "Print the statistics every second until the room ends.") var follow = false
        @OptionGroup var control: ControlOptions
        func run() async throws {
            let level = "level=\(self.debug ? "debug" : "standard")"
            guard self.follow else {
                return try await self.control.exchange(.GET, "/v1/stats?\(level)", as: .statistics)
            }
            let text = ReplyText(style: TerminalOutput.style)
            try await self.control.follow("/v1/stats/stream?\(level)") { item in
                try StandardOutput.write(text.text(Array(item.utf8), .statistics) + "\n")
            }
        }
    }

    struct Metrics: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the metrics for Prometheus.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.GET, "/metrics", as: .text) }
    }

    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print up to 256 events, the oldest that are kept first.",
            discussion:
                "On a terminal, each event is a line in words, and audio.levels is left out; --json prints all as JSON."
        )
        @Option(help: "Print only events with a higher number than this.") var after: Int64 = 0
        @Flag(help: "Continue with one line per event until the room ends.") var follow = false
        @OptionGroup var control: ControlOptions

        func validate() throws {
            guard self.after >= 0 else { throw ValidationError("--after \(self.after): give the number of an event") }
        }

        func run() async throws {
            let path = "/v1/events?after=\(self.after)"
            guard self.follow else { return try await self.control.exchange(.GET, path, as: .events) }
            let text = EventText(style: TerminalOutput.style)
            try await self.control.follow(path) { item in
                if let line = text.text(item) { try StandardOutput.write(line + "\n") }
            }
        }
    }

    struct SceneVerb: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "scene", abstract: "Put a scene on air.")
        @Argument(help: "sceneId of the scene.") var sceneID: String
        @Option(
            help: ArgumentHelp(
                "Program date of the switch, such as 2026-01-31T20:00:00.000Z; default: at once.", valueName: "date"))
        var at: String?
        @OptionGroup var control: ControlOptions
        func run() async throws {
            var members = [JSONValue.Member("sceneId", .string(self.sceneID))]
            if let at = self.at { members.append(.init("at", .string(at))) }
            try await self.control.exchange(.PUT, "/v1/program", .object(members))
        }
    }

    struct Source: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print a source, or change its settings.")
        @OptionGroup var source: SourceOptions
        @Option(help: "Volume in percent, 0 to 200.") var volume: Int?
        @Option(help: "Whether the source is audible: true or false.") var audio: Bool?
        @Option(help: "Whether the source is visible: true or false.") var video: Bool?
        func run() async throws {
            var members: [JSONValue.Member] = []
            if let volume = self.volume { members.append(.init("volume", JSONValue(volume))) }
            if let audio = self.audio { members.append(.init("audioPush", .bool(audio))) }
            if let video = self.video { members.append(.init("videoPush", .bool(video))) }
            let (control, path) = (self.source.control, self.source.path())
            try await members.isEmpty
                ? control.exchange(.GET, path) : control.exchange(.PUT, path, .object(members))
        }
    }

    struct Kick: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Disconnect a source's publisher and refuse publishers for some time.")
        @OptionGroup var source: SourceOptions
        @Option(help: "How long publishers are refused, in seconds; 0 lifts an earlier refusal.") var refuseSeconds = 60
        func run() async throws {
            try await self.source.control.exchange(
                .POST, self.source.path(":kick"), ["refuseSeconds": JSONValue(self.refuseSeconds)])
        }
    }

    struct Recording: AsyncParsableCommand {
        enum Verb: String, ExpressibleByArgument, CaseIterable { case start, stop }

        static let configuration = CommandConfiguration(
            abstract: "Start or stop the own recording of a source, as its publisher sends it.",
            discussion: "The source needs record in the pipeline file. ctl start and ctl stop are for record outputs.")
        @Argument(help: "start or stop.") var verb: Verb
        @OptionGroup var source: SourceOptions
        func run() async throws {
            try await self.source.control.exchange(
                .POST, self.source.path("/recording:\(self.verb.rawValue)"))
        }
    }

    struct Text: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change a text overlay.")
        @Argument(help: "textId of the text.") var textID: String
        @Argument(help: "The new text.") var text: String
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(
                .PUT, "/v1/texts/\(PercentEncoding.encode(self.textID))", ["text": .string(self.text)])
        }
    }

    struct Score: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change the points of a score bar.")
        @Argument(help: "scoreId of the score bar.") var scoreID: String
        @Argument(help: "Points on the left.") var left: Int
        @Argument(help: "Points on the right.") var right: Int
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(
                .PUT, "/v1/scores/\(PercentEncoding.encode(self.scoreID))",
                ["left": JSONValue(self.left), "right": JSONValue(self.right)])
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the room: its outputs are completed, and the playlists end.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.POST, "/v1/room:end") }
    }

    struct Drain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop this worker; the room continues in a successor.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.POST, "/v1/room:drain") }
    }
}
