import ArgumentParser
import MediaTypes
import NIOHTTP1

/// What is asked of the worker itself: alarms, outputs, renditions, logs.
extension CtlCommand {
    struct Alarms: AsyncParsableCommand {
        enum Which: String, ExpressibleByArgument, CaseIterable { case set, cleared, all }

        static let configuration = CommandConfiguration(abstract: "What is wrong, and was in the last five minutes.")
        @Option(help: "set, cleared or all.") var state = Which.all
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(.GET, "/v1/alarms?state=\(self.state.rawValue)")
        }
    }

    /// A command to one output.
    struct OutputOptions: ParsableArguments {
        @Argument(help: "Its outputId.") var outputID: String
        @OptionGroup var control: ControlOptions

        func send(_ verb: String) async throws {
            try await self.control.exchange(.POST, "/v1/outputs/\(ControlOptions.segment(self.outputID)):\(verb)")
        }
    }

    struct Restart: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Begin an RTMP output's connection anew.")
        @OptionGroup var output: OutputOptions
        func run() async throws { try await self.output.send("restart") }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Record a record output from the segment on that is on air, in files of its own.")
        @OptionGroup var output: OutputOptions
        func run() async throws { try await self.output.send("start") }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End what a record output records with the segment that is on air, and make its files.")
        @OptionGroup var output: OutputOptions
        func run() async throws { try await self.output.send("stop") }
    }

    struct Keyframe: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a rendition's next picture one to begin with, besides those of its grid.")
        @Argument(help: "The rendition's name.") var rendition: String
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(
                .POST, "/v1/renditions/\(ControlOptions.segment(self.rendition)):keyframe")
        }
    }

    struct Logs: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The worker's last log lines.")
        @Option(help: "How many, 1 to 1000.") var tail = 200
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.GET, "/v1/logs?tail=\(self.tail)") }
    }

    struct LogLevelVerb: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-level", abstract: "Change the least severe log lines the worker writes.")
        @Argument(help: "trace, debug, info, notice, warning, error or critical.") var level: LogLevel
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(.PUT, "/v1/log-level", ["level": .string(self.level.rawValue)])
        }
    }

    struct Version: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "What the worker is made of.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.GET, "/version") }
    }
}
