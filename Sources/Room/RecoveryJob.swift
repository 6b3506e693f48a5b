package import Control
package import RoomAPI

/// The progress of a worker that only completes the pending work of an ended room, such as uploads, for probes and
/// service managers.
///
/// The work has no time limit. The worker counts as alive as long as no step takes longer than the given patience. Make
/// a new value for each part of the work. Times are monotonic, in nanoseconds.
package struct RecoveryJob: Sendable {
    private let doing: String
    private let patience: Int64
    private var lastStep: Int64
    private var isOver = false

    /// Starts one part of the work.
    ///
    /// - Parameters:
    ///   - doing: Description of the part, such as `finishing the recording`.
    ///   - patience: Longest time of one step, in nanoseconds.
    package init(_ doing: String, patience: Int64, at now: Int64) {
        self.doing = doing
        self.patience = patience
        self.lastStep = now
    }

    /// Records that a step of the work is done.
    package mutating func advanced(at now: Int64) { self.lastStep = now }

    /// Records that all work is done, so that the worker is about to end.
    package mutating func finish() { self.isOver = true }

    /// The health for probes: live and started, but never ready, so that no publishers are sent to this worker.
    package func health(at now: Int64) -> HealthReport {
        HealthReport(
            live: self.isAlive(at: now), ready: false, started: true, state: "closed",
            checks: ["settlement": "\(self.doing), last step \(self.standstill(at: now) / 1_000_000) ms ago"])
    }

    /// The state for a service manager: starting until all work is done.
    package func serviceView(at now: Int64) -> ServiceNotices.View {
        ServiceNotices.View(
            phase: self.isOver ? .over : .settling, status: self.doing, isAlive: self.isAlive(at: now))
    }

    private func standstill(at now: Int64) -> Int64 { max(0, now &- self.lastStep) }

    private func isAlive(at now: Int64) -> Bool { self.standstill(at: now) < self.patience }
}
