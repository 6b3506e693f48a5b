/// Decides which notices a service manager gets and when: a value without sockets, threads or clocks.
///
/// Phases: starting → ready → stopping → over, or settling → over; settling is to the manager a start that takes long. That it is ready and
/// that it is stopping are sent once each; its status whenever that changes; that it reads its files again, and that it has; that it
/// lives as often as the manager wants to hear it, while it does. While it stops it asks for more time, again and again, until its end is
/// overdue, and so it does while it settles, as long as it lives: a worker that hangs there is the manager's to kill.
///
/// A worker that ends well has been ready, however short it was: to a manager one that ends before is one that failed to start
/// (`protocol`), whatever its exit status, and is started again.
///
/// Spec: sd_notify(3).
package struct ServiceNotices: Sendable {
    /// How far a worker is.
    package enum Phase: Sendable, Hashable {
        /// Its listeners are not open yet.
        case starting
        /// There is no room to run: what it left behind is finished, and takes as long as it takes while it gets on.
        case settling
        case ready
        /// - Parameter until: Monotonic time by which it is to be over, in nanoseconds.
        case stopping(until: Int64)
        case over
    }

    /// How often somebody asked for its files to be read again, and how many of these times that is done.
    package struct Reloads: Sendable, Hashable {
        package var asked: Int
        package var done: Int

        package init(asked: Int = 0, done: Int = 0) {
            self.asked = asked
            self.done = done
        }
    }

    /// How a worker is at one look.
    package struct View: Sendable {
        package var phase: Phase
        /// One line for people.
        package var status: String
        /// Its loops advance.
        package var isAlive: Bool
        /// It ends because of a failure: where it has not been ready, its start has failed.
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

        /// A worker that ends well and never had anything to do.
        package static func ended(_ status: String) -> View { View(phase: .over, status: status, isAlive: true) }
    }

    /// Microseconds that are asked for, and nanoseconds until they are asked for again.
    private static let extraTime = 5_000_000
    private static let extensionPace: Int64 = 1_000_000_000

    /// Nanoseconds between two signs of life; `nil`: none is asked for.
    private let watchdog: Int64?
    private var isReady = false
    private var isStopping = false
    private var isReloading = false
    /// Number of requested reloads that were reported.
    private var reloads = 0
    private var status = ""
    private var lifeDue = Int64.min
    private var extensionDue = Int64.min

    /// - Parameter watchdog: Nanoseconds within which a sign of life must come, as the manager says; `nil`: it wants none.
    package init(watchdog: Int64?) { self.watchdog = watchdog.map { max(1, $0 / 2) } }

    /// What is to be sent now: datagrams, in their order.
    ///
    /// - Parameter now: Monotonic, in nanoseconds; never less than before.
    package mutating func next(_ view: View, now: Int64) -> [String] {
        var (datagrams, lines): ([String], [String]) = ([], [])
        let wasReady = self.isReady
        if !self.isReady, !view.hasFailed, view.phase != .starting, view.phase != .settling {
            self.isReady = true
            // Where both stand in one datagram, the manager takes STOPPING=1 and leaves READY=1 out.
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
        // In datagrams of their own: what is ready again was not before.
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

    /// A line break would begin another assignment.
    private static func line(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }
}
