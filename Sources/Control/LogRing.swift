import DequeModule
package import Logging
import Synchronization

/// Keeps the process's latest log lines, for operators who cannot read its standard error. Also holds the log level of
/// all its loggers.
package final class LogRing: Sendable {
    private struct State {
        var lines: Deque<String> = []
        var level: Logger.Level
    }

    /// Number of lines that are kept. Lines longer than ``longestLine`` bytes are left out.
    package static let capacity = 1_000
    private static let longestLine = 4 << 10

    private let state: Mutex<State>
    private let applied: @Sendable (Logger.Level) -> Void

    /// - Parameter applied: Called with the level, at once and whenever the level changes, for libraries with their own
    ///   loggers. Calls do not overlap.
    package init(level: Logger.Level, applied: @escaping @Sendable (Logger.Level) -> Void = { _ in }) {
        self.state = Mutex(State(level: level))
        self.applied = applied
        applied(level)
    }

    /// The lowest level that is logged. A change takes effect at once.
    package var level: Logger.Level {
        get { self.state.withLock(\.level) }
        set {
            // Called while the lock is held: if two threads set the level, then the same level is in force everywhere.
            self.state.withLock { state in
                state.level = newValue
                self.applied(newValue)
            }
        }
    }

    /// Adds a log line.
    ///
    /// - Parameter line: One JSON object, without a line break.
    package func append(_ line: String) {
        guard line.utf8.count <= Self.longestLine else { return }
        self.state.withLock { state in
            state.lines.append(line)
            if state.lines.count > Self.capacity { state.lines.removeFirst() }
        }
    }

    /// The last `count` lines, the oldest first.
    package func tail(_ count: Int) -> [String] { self.state.withLock { Array($0.lines.suffix(max(0, count))) } }
}
