/// Decides which notifications a service manager such as systemd receives, and when. A value without sockets, threads
/// or clocks.
///
/// Phases: starting → ready → stopping → over, or settling → over. For the manager, settling is a long start. `READY=1`
/// and `STOPPING=1` are sent once each, the status whenever it changes, the start of each reload and its end (another
/// `READY=1`), and watchdog notifications at half of the manager's watchdog timeout, as long as the worker is alive.
/// While the worker is stopping, it asks for more time until its end is overdue. While it is settling, it asks for more
/// time as long as it is alive. A worker that hangs then is killed by the manager.
///
/// A worker that ends without an error is always reported as ready first, however short it ran. Otherwise the manager
/// would treat its exit as a failed start (`protocol`), whatever the exit code, and start it again.
///
/// Spec: sd_notify(3).
package struct ServiceNotices: Sendable {
    /// The phase of a worker.
    package enum Phase: Sendable, Hashable {
        /// The listeners of the worker are not open yet.
        case starting
        /// There is no room to run. The worker completes the outputs of an earlier worker, without a time limit as long
        /// as it makes progress.
        case settling
        case ready
        /// The worker is ending.
        ///
        /// - Parameter until: Monotonic time in nanoseconds at which its end is overdue, ``LoopLags/endMargin`` included.
        case stopping(until: Int64)
        case over
    }

    /// How many times it was requested to read the files again, and how many of these requests are done.
    package struct Reloads: Sendable, Hashable {
        package var asked: Int
        package var done: Int

        package init(asked: Int = 0, done: Int = 0) {
            self.asked = asked
            self.done = done
        }
    }

    /// The state of a worker when it is polled.
    package struct View: Sendable {
        package var phase: Phase
        /// What the worker is doing, as one line of text for people.
        package var status: String
        /// Whether the worker makes progress; if false, no watchdog notifications are sent.
        package var isAlive: Bool
        /// Whether the worker ends because of a failure. If it has not been ready, then its start has failed.
        package var hasFailed: Bool
        package var reloads: Reloads

        package init(
            phase: Phase, status: String, isAlive: Bool, hasFailed: Bool = false, reloads: Reloads = Reloads()
        ) {
            self.phase = phase
            self.status = status
            self.isAlive = isAlive
            self.hasFailed = hasFailed
            self.reloads = reloads
        }

        /// The state of a worker that ends without an error and never had anything to do.
        package static func ended(_ status: String) -> View { View(phase: .over, status: status, isAlive: true) }
    }

    /// Time that is asked for, in microseconds. ``extensionPace`` is the interval between two such requests, in
    /// nanoseconds.
    private static let extraTime = 5_000_000
    private static let extensionPace: Int64 = 1_000_000_000

    /// Interval between two watchdog notifications, in nanoseconds; nil if the manager wants none.
    private let watchdog: Int64?
    private var isReady = false
    private var isStopping = false
    private var isReloading = false
    /// Number of requested reloads that were reported.
    private var reloads = 0
    private var status = ""
    private var lifeDue = Int64.min
    private var extensionDue = Int64.min

    /// - Parameter watchdog: The manager's watchdog timeout in nanoseconds; nil if it has none. Notifications are sent
    ///   at half of it.
    package init(watchdog: Int64?) { self.watchdog = watchdog.map { max(1, $0 / 2) } }

    /// The datagrams to send now, in order.
    ///
    /// - Parameter now: Monotonic time in nanoseconds; never less than in the previous call.
    package mutating func next(_ view: View, now: Int64) -> [String] {
        var (datagrams, lines): ([String], [String]) = ([], [])
        let wasReady = self.isReady
        if !self.isReady, !view.hasFailed, view.phase != .starting, view.phase != .settling {
            self.isReady = true
            // If one datagram contains both, then the manager handles STOPPING=1 and ignores READY=1.
            if view.phase == .ready { lines.append("READY=1") } else { datagrams.append("READY=1") }
        }
        switch view.phase {
        case .starting, .ready: break
        case .settling: if view.isAlive { self.extend(&lines, now: now) }
        case .stopping(let until):
            self.stop(&lines)
            if now < until { self.extend(&lines, now: now) }
        case .over: self.stop(&lines)
        }
        if view.phase != .starting, view.status != self.status {
            self.status = view.status
            lines.append("STATUS=\(Self.line(view.status))")
        }
        if let watchdog = self.watchdog, view.isAlive, now >= self.lifeDue {
            self.lifeDue = now &+ watchdog
            lines.append("WATCHDOG=1")
        }
        if !lines.isEmpty { datagrams.append(lines.joined(separator: "\n")) }
        // Sent as separate datagrams, because each changes the manager's state.
        if wasReady, view.phase == .ready { datagrams += self.reload(view.reloads, now: now) }
        return datagrams
    }

    /// Spec: sd_notify(3), `RELOADING=1`: with `MONOTONIC_USEC` in one datagram, and `READY=1` when it is done.
    private mutating func reload(_ reloads: Reloads, now: Int64) -> [String] {
        var datagrams: [String] = []
        if !self.isReloading, reloads.asked > self.reloads {
            self.isReloading = true
            self.reloads = reloads.asked
            datagrams.append("RELOADING=1\nMONOTONIC_USEC=\(now / 1_000)")
        }
        if self.isReloading, reloads.done >= self.reloads {
            self.isReloading = false
            datagrams.append("READY=1")
        }
        return datagrams
    }

    private mutating func stop(_ lines: inout [String]) {
        guard !self.isStopping else { return }
        self.isStopping = true
        lines.append("STOPPING=1")
    }

    private mutating func extend(_ lines: inout [String], now: Int64) {
        guard now >= self.extensionDue else { return }
        self.extensionDue = now &+ Self.extensionPace
        lines.append("EXTEND_TIMEOUT_USEC=\(Self.extraTime)")
    }

    /// Replaces line breaks, which would begin another assignment.
    private static func line(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }
}
