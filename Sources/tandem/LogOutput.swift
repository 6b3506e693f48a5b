import ArgumentParser
import Control
import HLS
import LibAV
import Logging
import MediaTypes
import Threading
import Synchronization

/// The format of log lines on standard error.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    /// Text if standard error is a terminal, otherwise JSON.
    case auto
    case text
    case json
}

/// Writes log lines to standard error, each in one piece: as text, or as one JSON object per line.
struct LogOutput: LogHandler {
    /// Metadata keys that identify the worker. They are left out of text lines.
    enum IdentityKey {
        static let room = "room"
        static let instance = "instance"
        static let all: Set<String> = [Self.room, Self.instance, "incarnation"]
    }

    var metadata: Logger.Metadata = [:]
    let label: String
    let isJSON: Bool
    let lines: LineWriter
    let logRing: LogRing
    /// Minimum level of this logger, in addition to that of the process; nil: only that of the process.
    private var least: Logger.Level?
    private static let current = Mutex<(lines: LineWriter, logRing: LogRing)?>(nil)

    private init(label: String, isJSON: Bool, lines: LineWriter, logRing: LogRing) {
        (self.label, self.isJSON, self.lines, self.logRing) = (label, isJSON, lines, logRing)
    }

    /// The log level of the process, which operators can change while it runs, or this logger's minimum if that is
    /// higher.
    var logLevel: Logger.Level {
        get { max(self.least ?? .trace, self.logRing.level) }
        set { self.least = newValue }
    }

    /// The last log lines, which the control API returns; `nil` before ``bootstrap(_:level:)``.
    static var logRing: LogRing? { self.current.withLock { $0?.logRing } }

    /// Sets up logging for the process.
    static func bootstrap(_ format: LogFormat, level: Logger.Level) {
        let isJSON = format == .json || (format == .auto && !StandardError.isTerminal)
        let lines = StandardError.lines()
        // The libraries' own log lines are only useful for debugging.
        let logRing = LogRing(level: level) { LibAV.setNativeLogging($0 <= .debug) }
        self.current.withLock { $0 = (lines, logRing) }
        LoggingSystem.bootstrap { LogOutput(label: $0, isJSON: isJSON, lines: lines, logRing: logRing) }
    }

    /// Writes the pending log lines; call it before the process ends.
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
        self.logRing.append(line)
        if self.isJSON {
            self.lines.write(line)
        } else {
            let details = merged.filter { !IdentityKey.all.contains($0.key) }.map { " \($0.key)=\($0.value)" }.joined()
            self.lines.write("\(time.dropFirst(11).prefix(12)) \(event.level) \(event.message)\(details)")
        }
    }
}
