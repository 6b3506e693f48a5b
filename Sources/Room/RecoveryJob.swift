package import Control
package import RoomAPI

/// The progress of a worker that finishes the pending work of an ended room, for probes and service managers.
///
/// The work has no time limit: the worker is alive as long as its steps follow one another in time. Make a new value
/// for each part of the work. Times are nanoseconds of one monotonic clock.
package struct RecoveryJob: Sendable {
    private let doing: String
    private let patience: Int64
    private var lastStep: Int64
    private var isOver = false

    /// Starts a part of the work.
    ///
    /// - Parameters:
    ///   - doing: Description, such as `finishing the recording`.
    ///   - patience: Longest time of a step, in nanoseconds.
    package init(_ doing: String, patience: Int64, at now: Int64) {
        self.doing = doing
        self.patience = patience
        self.lastStep = now
    }

    /// Records that a step is done.
    package mutating func advanced(at now: Int64) { self.lastStep = now }

    /// Records that all work is done; the worker ends.
    package mutating func finish() { self.isOver = true }

    /// The health for probes: live, started, but not ready, so that no publishers are sent to it.
    package func health(at now: Int64) -> HealthReport {
        HealthReport(
            live: self.isAlive(at: now), ready: false, started: true, state: "closed",
            checks: ["settlement": "\(self.doing), last step \(self.standstill(at: now) / 1_000_000) ms ago"])
    }

    /// The state for a service manager: the worker is starting until all work is done.
    package func serviceView(at now: Int64) -> ServiceNotices.View {
        ServiceNotices.View(
            phase: self.isOver ? .over : .settling, status: self.doing, isAlive: self.isAlive(at: now))
    }

    private func standstill(at now: Int64) -> Int64 { max(0, now &- self.lastStep) }

    private func isAlive(at now: Int64) -> Bool { self.standstill(at: now) < self.patience }
}
