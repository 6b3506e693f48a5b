import ArgumentParser
import MediaTypes
import NIOHTTP1

/// Commands about the worker itself: alarms, outputs, renditions, logs.
extension CtlCommand {
    struct Alarms: AsyncParsableCommand {
        enum Which: String, ExpressibleByArgument, CaseIterable { case set, cleared, all }

        static let configuration = CommandConfiguration(
            abstract: "Print the current alarms, and those cleared in the last five minutes.")
        @Option(help: "Which alarms: set, cleared or all.") var state = Which.all
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(.GET, "/v1/alarms?state=\(self.state.rawValue)", as: .alarms)
        }
    }

    /// Options of a command for one output.
    struct OutputOptions: ParsableArguments {
        @Argument(help: "outputId of the output.") var outputID: String
        @OptionGroup var control: ControlOptions

        func send(_ verb: String) async throws {
            try await self.control.exchange(.POST, "/v1/outputs/\(PercentEncoding.encode(self.outputID)):\(verb)")
        }
    }

    struct Restart: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Reconnect an RTMP output.")
        @OptionGroup var output: OutputOptions
        func run() async throws { try await self.output.send("restart") }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start recording on a record output, with the current segment, in new files.")
        @OptionGroup var output: OutputOptions
        func run() async throws { try await self.output.send("start") }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop the recording of a record output after the current segment, and finalize its files.")
        @OptionGroup var output: OutputOptions
        func run() async throws { try await self.output.send("stop") }
    }

    struct Keyframe: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a rendition's next frame a key frame, in addition to the regular ones.")
        @Argument(help: "Name of the rendition.") var rendition: String
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(
                .POST, "/v1/renditions/\(PercentEncoding.encode(self.rendition)):keyframe")
        }
    }

    struct Demand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Wake a rendition that sleeps without viewers and keep it awake, because viewers are expected.")
        @Argument(help: "Name of the rendition.") var rendition: String
        @Option(help: "Seconds for which it stays awake, 1 to 3600.") var seconds = 60
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(
                .POST, "/v1/renditions/\(PercentEncoding.encode(self.rendition)):demand",
                ["seconds": JSONValue(self.seconds)])
        }
    }

    struct Logs: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the worker's last log lines.")
        @Option(help: "Number of lines, 1 to 1000.") var tail = 200
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(.GET, "/v1/logs?tail=\(self.tail)", as: .logs)
        }
    }

    struct LogLevelVerb: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-level", abstract: "Change the lowest level that the worker logs.")
        @Argument(help: "trace, debug, info, notice, warning, error or critical.") var level: LogLevel
        @OptionGroup var control: ControlOptions
        func run() async throws {
            try await self.control.exchange(.PUT, "/v1/log-level", ["level": .string(self.level.rawValue)])
        }
    }

    struct Version: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the versions of the worker and its libraries.")
        @OptionGroup var control: ControlOptions
        func run() async throws { try await self.control.exchange(.GET, "/version") }
    }
}
