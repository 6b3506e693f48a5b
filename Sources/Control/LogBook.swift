import DequeModule
package import Logging
import Synchronization

/// The process's latest log lines, for operators who cannot see its standard error, and the level of all its loggers.
package final class LogBook: Sendable {
    private struct State {
        var lines: Deque<String> = []
        var level: Logger.Level
    }

    /// Lines that are kept, and bytes of one beyond which it is left out.
    package static let capacity = 1_000
    private static let longestLine = 4 << 10

    private let state: Mutex<State>
    private let applied: @Sendable (Logger.Level) -> Void

    /// - Parameter applied: Called with the level, now and whenever it is set, for those who log by themselves. One call at a time.
    package init(level: Logger.Level, applied: @escaping @Sendable (Logger.Level) -> Void = { _ in }) {
        self.state = Mutex(State(level: level))
        self.applied = applied
        applied(level)
    }

    /// The least severe lines that are written. Takes effect at once.
    package var level: Logger.Level {
        get { self.state.withLock(\.level) }
        set {
            // Under the lock: of two that are set at once, the same one is in force everywhere.
            self.state.withLock { state in
                state.level = newValue
                self.applied(newValue)
            }
        }
    }

    /// - Parameter line: One JSON object, without a line break.
    package func append(_ line: String) {
        guard line.utf8.count <= Self.longestLine else { return }
        self.state.withLock { state in
            state.lines.append(line)
            if state.lines.count > Self.capacity { state.lines.removeFirst() }
        }
    }

    /// The last lines, the oldest first.
    package func tail(_ count: Int) -> [String] { self.state.withLock { Array($0.lines.suffix(max(0, count))) } }
}
