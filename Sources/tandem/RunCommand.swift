import ArgumentParser
import HLS
import Logging
import MediaTypes
import PipelineSpec
import Room
import TerminalText
import Threading

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run one room from a pipeline file until it ends.",
        discussion: """
            Events are written to standard output. On a terminal, each is a line in words, with the time in UTC;
            audio.levels is left out. In a pipe or a file, and with --json, each is one JSON object per line. The first
            event of the room is room.ready, with the bound rtmp, viewer and control addresses, so that port 0 can be
            used. Logs are written to standard error. NO_COLOR=1 disables colors.

                tandem run room.json
                tandem run room.json --set sources[0].streamKey=secret
                cat room.json | tandem run - --duration 60 | jq .type

            SIGINT or POST /v1/room:end ends the room: its outputs are completed, the playlists end, exit code 0.
            SIGTERM stops this worker and leaves the playlists open for the next worker: exit code 143. Viewers of a
            room that has ended are still served for a while (http.lingerSeconds); either signal, or room:end again,
            ends that time at once.

            If the pipeline file changes while the room runs, the changes are applied as with PUT /v1/room, within two
            seconds or on SIGHUP; --no-watch disables this. An unchanged file is not applied again, even if commands
            have changed the room since.
            """)

    @Argument(help: "The pipeline file; - is standard input.")
    var pipeline: String

    @Option(name: .long, help: ArgumentHelp("Override a value of the file, repeatable.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: ArgumentHelp("End the room after this many seconds of program.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "Start a new session in a directory whose room has ended; its old files are removed.")
    var newSession = false

    @Flag(help: "Discard the commands given to earlier workers; commands.json is removed.")
    var forget = false

    @Flag(name: .customLong("ended-ok"), help: "Exit 0 instead of 73 if the room in the directory has ended.")
    var endedIsOK = false

    @Option(help: ArgumentHelp("Program time zero of a new room, such as 2026-01-31T20:00:00.000Z.", valueName: "date"))
    var origin: String?

    @Flag(inversion: .prefixedNo, help: "Watch the pipeline file while the room runs.")
    var watch = true

    @Flag(help: "Write events as JSON on a terminal, too.")
    var json = false

    @Option(help: "Format of log lines: auto is text on a terminal, and JSON otherwise.")
    var logFormat: LogFormat = .auto

    @Option(help: "Lowest level that is logged.")
    var logLevel: LogLevel = .info

    func run() async throws {
        RoomProcess.ignoreHangups()
        LogOutput.bootstrap(self.logFormat, level: self.logLevel.level)
        let loaded = try PipelineLoading.document(self.pipeline, set: self.set + self.durationOverride())
        var origin: Int64?
        if let text = self.origin {
            guard let date = ProgramDate.parse(text) else {
                throw ValidationError("--origin \(text): write it as 2026-01-31T20:00:00.000Z")
            }
            origin = date
        }
        let isFollowed = self.watch && self.pipeline != "-"
        var settings = RoomSettings(
            pipeline: loaded.pipeline, document: loaded.document,
            file: isFollowed ? RoomSettings.File(path: self.pipeline, bytes: loaded.bytes) : nil,
            newSession: self.newSession, origin: origin, clocks: .system)
        settings.endedIsOK = self.endedIsOK
        settings.forgets = self.forget
        let events = StandardOutput.lines()
        let status = await RoomRunner.run(settings, write: self.writer(events), finish: { events.finish() })
        events.finish()
        LogOutput.finish()
        if status != .roomOver { throw status.code }
    }

    /// Returns the function that writes an event line: as it is, or in words on a terminal.
    private func writer(_ lines: LineWriter) -> @Sendable (String) -> Void {
        guard TerminalOutput.isTerminal, !self.json else { return { lines.write($0) } }
        let text = EventText(style: TerminalOutput.style)
        return { event in
            if let line = text.text(event) { lines.write(line) }
        }
    }

    /// Returns `--duration` as an override of the pipeline file, so that a room with looping file sources counts as
    /// having an end.
    private func durationOverride() throws -> [String] {
        guard let duration = self.duration else { return [] }
        guard let ms = Int64(exactly: (duration * 1000).rounded()), (1...2_592_000_000).contains(ms) else {
            throw ValidationError("--duration \(duration): give seconds from 0.001 to 2592000")
        }
        return ["durationSeconds=\(JSONValue.thousandths(ms).text)"]
    }
}

/// The log levels that `--log-level` accepts, by name.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    var level: Logger.Level { Logger.Level(rawValue: self.rawValue) ?? .info }
}
