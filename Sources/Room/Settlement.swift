package import Control
package import MediaTypes
import Synchronization

/// What a worker is doing that finishes what an ended room left behind, for those who watch it.
///
/// It takes as long as it takes: it lives as long as its steps follow one another. Begun by ``begin(_:patience:)`` for each part of the
/// work, moved by ``advanced()``, over with ``finish()``.
package final class Settlement: Sendable {
    private struct State {
        var doing: String
        var patience: Int64
        var lastStep: Int64
        var isOver = false
    }

    private let clock: any MonotonicClock
    private let state: Mutex<State>

    /// - Parameter patience: As in ``begin(_:patience:)``.
    package init(_ doing: String, patience: Int64, clock: any MonotonicClock) {
        self.clock = clock
        self.state = Mutex(State(doing: doing, patience: patience, lastStep: clock.now()))
    }

    /// Another part of the work begins.
    ///
    /// - Parameters:
    ///   - doing: For people, such as `finishing the recording`.
    ///   - patience: Nanoseconds a step of it may take.
    package func begin(_ doing: String, patience: Int64) {
        let now = self.clock.now()
        self.state.withLock { $0 = State(doing: doing, patience: patience, lastStep: now) }
    }

    /// A step is done.
    package func advanced() {
        let now = self.clock.now()
        self.state.withLock { $0.lastStep = now }
    }

    /// All of it is done, and the worker with it.
    package func finish() { self.state.withLock { $0.isOver = true } }

    /// For probes: it lives, its start is over, and publishers are not to be sent to it.
    package var health: HealthReport {
        let (doing, standstill, isAlive) = self.look()
        return HealthReport(
            live: isAlive, ready: false, started: true, state: "closed",
            checks: ["settlement": "\(doing), last step \(standstill / 1_000_000) ms ago"])
    }

    /// For a service manager. To it the worker is starting until all is done.
    package var serviceView: ServiceNotices.View {
        let (doing, _, isAlive) = self.look()
        let isOver = self.state.withLock { $0.isOver }
        return ServiceNotices.View(phase: isOver ? .over : .settling, status: doing, isAlive: isAlive)
    }

    private func look() -> (doing: String, standstill: Int64, isAlive: Bool) {
        let now = self.clock.now()
        let state = self.state.withLock { $0 }
        let standstill = max(0, now &- state.lastStep)
        return (state.doing, standstill, standstill < state.patience)
    }
}
