import ArgumentParser
import Control
import HLS
import LibAV
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
    /// What every line bears: whose it is. People at a terminal know.
    enum Whose {
        static let room = "room"
        static let instance = "instance"
        static let all: Set<String> = [Self.room, Self.instance, "incarnation"]
    }

    var metadata: Logger.Metadata = [:]
    let label: String
    let isJSON: Bool
    let lines: LineWriter
    let book: LogBook
    /// Of a logger that is to say less than the others.
    private var least: Logger.Level?
    private static let current = Mutex<(lines: LineWriter, book: LogBook)?>(nil)

    private init(label: String, isJSON: Bool, lines: LineWriter, book: LogBook) {
        (self.label, self.isJSON, self.lines, self.book) = (label, isJSON, lines, book)
    }

    /// The process's, which operators may change while it runs.
    var logLevel: Logger.Level {
        get { max(self.least ?? .trace, self.book.level) }
        set { self.least = newValue }
    }

    /// The latest lines; `nil` before ``bootstrap(_:level:)``.
    static var book: LogBook? { self.current.withLock { $0?.book } }

    /// Sets up logging for the process.
    static func bootstrap(_ format: LogFormat, level: Logger.Level) {
        let isJSON = format == .json || (format == .auto && !StandardError.isTerminal)
        let lines = StandardError.lines()
        // The libraries' own lines are for those who look for a fault.
        let book = LogBook(level: level) { LibAV.setNativeLogging($0 <= .debug) }
        self.current.withLock { $0 = (lines, book) }
        LoggingSystem.bootstrap { LogOutput(label: $0, isJSON: isJSON, lines: lines, book: book) }
    }

    /// Writes the lines that are still waiting, before the process ends.
    static func finish() { self.current.withLock { $0 }?.lines.finish() }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let merged = self.metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let time = ProgramDate.format(SystemClock.wallClock())
        let common: [JSONValue.Member] = [
            .init("ts", .string(time)), .init("level", .string("\(event.level)")),
            .init("msg", .string("\(event.message)")), .init("logger", .string(self.label)),
        ]
        let line = JSONValue.object(common + merged.map { .init($0.key, .string("\($0.value)")) }).text
        self.book.append(line)
        if self.isJSON {
            self.lines.write(line)
        } else {
            let details = merged.filter { !Whose.all.contains($0.key) }.map { " \($0.key)=\($0.value)" }.joined()
            self.lines.write("\(time.dropFirst(11).prefix(12)) \(event.level) \(event.message)\(details)")
        }
    }
}
