package import Control
package import RoomAPI

/// What a worker is doing that finishes what an ended room left behind, for those who watch it.
///
/// It takes as long as it takes: it is alive as long as its steps follow one another. A new value is made for each part of the work.
/// Times are nanoseconds of one monotonic clock.
package struct RecoveryJob: Sendable {
    private let doing: String
    private let patience: Int64
    private var lastStep: Int64
    private var isOver = false

    /// A part of the work begins.
    ///
    /// - Parameters:
    ///   - doing: For people, such as `finishing the recording`.
    ///   - patience: Nanoseconds a step of it may take.
    package init(_ doing: String, patience: Int64, at now: Int64) {
        self.doing = doing
        self.patience = patience
        self.lastStep = now
    }

    /// A step is done.
    package mutating func advanced(at now: Int64) { self.lastStep = now }

    /// All of it is done, and the worker with it.
    package mutating func finish() { self.isOver = true }

    /// For probes: it is alive, its start is over, and publishers are not to be sent to it.
    package func health(at now: Int64) -> HealthReport {
        HealthReport(
            live: self.isAlive(at: now), ready: false, started: true, state: "closed",
            checks: ["settlement": "\(self.doing), last step \(self.standstill(at: now) / 1_000_000) ms ago"])
    }

    /// For a service manager. To it the worker is starting until all is done.
    package func serviceView(at now: Int64) -> ServiceNotices.View {
        ServiceNotices.View(
            phase: self.isOver ? .over : .settling, status: self.doing, isAlive: self.isAlive(at: now))
    }

    private func standstill(at now: Int64) -> Int64 { max(0, now &- self.lastStep) }

    private func isAlive(at now: Int64) -> Bool { self.standstill(at: now) < self.patience }
}
