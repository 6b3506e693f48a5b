/// What a service manager is told of a worker, and when: a value without sockets, threads or clocks.
///
/// Phases: starting → ready → stopping → over. That it is ready and that it is stopping is told once each; what it is doing whenever
/// that changes; that it lives as often as the manager wants to hear it, while it does. While it stops it asks for more time, again and
/// again, until its end is overdue: a worker that hangs there is the manager's to kill.
///
/// Spec: sd_notify(3).
package struct ServiceNotices: Sendable {
    /// How far a worker is.
    package enum Phase: Sendable, Hashable {
        /// Its listeners are not open yet.
        case starting
        case ready
        /// - Parameter until: Monotonic time by which it is to be over, in nanoseconds.
        case stopping(until: Int64)
        case over
    }

    /// How a worker is at one look.
    package struct View: Sendable {
        package var phase: Phase
        /// One line for people.
        package var status: String
        /// Its loops advance.
        package var isAlive: Bool

        package init(phase: Phase, status: String, isAlive: Bool) {
            self.phase = phase
            self.status = status
            self.isAlive = isAlive
        }
    }

    /// Microseconds that are asked for, and nanoseconds until they are asked for again.
    private static let extraTime = 5_000_000
    private static let extensionPace: Int64 = 1_000_000_000

    /// Nanoseconds between two signs of life; `nil`: none is asked for.
    private let watchdog: Int64?
    private var isReady = false
    private var isStopping = false
    private var status = ""
    private var lifeDue = Int64.min
    private var extensionDue = Int64.min

    /// - Parameter watchdog: Nanoseconds within which a sign of life must come, as the manager says; `nil`: it wants none.
    package init(watchdog: Int64?) { self.watchdog = watchdog.map { max(1, $0 / 2) } }

    /// What is to be sent now: datagrams, in their order.
    ///
    /// - Parameter now: Monotonic, in nanoseconds; never less than before.
    package mutating func next(_ view: View, now: Int64) -> [String] {
        var lines: [String] = []
        if !self.isReady, view.phase != .starting {
            self.isReady = true
            lines.append("READY=1")
        }
        switch view.phase {
        case .starting, .ready: break
        case .stopping(let until):
            self.stop(&lines)
            if now < until, now >= self.extensionDue {
                self.extensionDue = now &+ Self.extensionPace
                lines.append("EXTEND_TIMEOUT_USEC=\(Self.extraTime)")
            }
        case .over: self.stop(&lines)
        }
        if self.isReady, view.status != self.status {
            self.status = view.status
            lines.append("STATUS=\(Self.line(view.status))")
        }
        if let watchdog = self.watchdog, view.isAlive, now >= self.lifeDue {
            self.lifeDue = now &+ watchdog
            lines.append("WATCHDOG=1")
        }
        return lines.isEmpty ? [] : [lines.joined(separator: "\n")]
    }

    private mutating func stop(_ lines: inout [String]) {
        guard !self.isStopping else { return }
        self.isStopping = true
        lines.append("STOPPING=1")
    }

    /// A line break would begin another assignment.
    private static func line(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }
}
