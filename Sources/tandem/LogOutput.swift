import ArgumentParser
import HLS
import Logging
import MediaTypes
import Stages
import Synchronization

/// How log lines look on standard error.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    /// Text on a terminal, JSON elsewhere.
    case auto
    case text
    case json
}

/// Writes each log line whole, on standard error: for people, or one JSON object a line.
struct LogOutput: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    let label: String
    let isJSON: Bool
    let lines: LineWriter
    private static let current = Mutex<LineWriter?>(nil)

    /// Sets up logging for the process.
    static func bootstrap(_ format: LogFormat, level: Logger.Level) {
        let isJSON = format == .json || (format == .auto && !StandardError.isTerminal)
        let lines = StandardError.lines()
        self.current.withLock { $0 = lines }
        LoggingSystem.bootstrap { LogOutput(logLevel: level, label: $0, isJSON: isJSON, lines: lines) }
    }

    /// Writes the lines that are still waiting, before the process ends.
    static func finish() { self.current.withLock { $0 }?.finish() }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let merged = self.metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let time = ProgramDate.format(SystemClock.wallClock())
        if self.isJSON {
            let common: [JSONValue.Member] = [
                .init("ts", .string(time)), .init("level", .string("\(event.level)")),
                .init("msg", .string("\(event.message)")), .init("logger", .string(self.label)),
            ]
            let line = JSONValue.object(common + merged.map { .init($0.key, .string("\($0.value)")) })
            self.lines.write(line.text)
        } else {
            let details = merged.map { " \($0.key)=\($0.value)" }.joined()
            self.lines.write("\(time.dropFirst(11).prefix(12)) \(event.level) \(event.message)\(details)")
        }
    }
}
