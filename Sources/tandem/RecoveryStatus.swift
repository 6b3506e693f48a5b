import Control
import Logging
import MediaTypes
import PipelineSpec
import Room
import RoomAPI
import Synchronization

/// Shows that a worker is alive while it finishes the pending work of an ended room: answers probes at the room's
/// control address, and notifies a service manager.
struct RecoveryStatus {
    private let work: Work
    private let notices: Task<Void, Never>
    private let probes: ProbeServer?

    /// Opens the probe listener and starts to notify the service manager.
    ///
    /// - Parameters:
    ///   - doing, patience: See ``RecoveryJob/init(_:patience:at:)``.
    ///   - clock: Measures how long a step takes.
    static func begin(
        _ doing: String, patience: Int64, _ pipeline: Pipeline, clock: any MonotonicClock, _ logger: Logger
    ) async -> RecoveryStatus {
        let work = Work(doing, patience: patience, clock)
        let notices = Task {
            if let notifier = ServiceNotifier.open() { await notifier.follow { work.serviceView } }
        }
        var probes: ProbeServer?
        do throws(MediaError) {
            probes = try await ProbeServer.start(listen: pipeline.control.listen, logger: logger) { work.health }
        } catch {
            // The pending work does not wait for probes.
            logger.warning(
                "cannot answer health probes while finishing the ended room", metadata: ["error": "\(error)"])
        }
        return RecoveryStatus(work: work, notices: notices, probes: probes)
    }

    /// Records that another part of the work begins. See ``RecoveryJob/init(_:patience:at:)``.
    func proceed(_ doing: String, patience: Int64) { self.work.begin(doing, patience: patience) }

    /// Records that a step of the pending work is done.
    func advanced() { self.work.advanced() }

    /// Ends the notices and closes the probe listener.
    ///
    /// - Parameter isOver: True if all work is done and the worker ends; false if it has failed, or if a room follows.
    func end(isOver: Bool) async {
        if isOver { self.work.finish() }
        await self.probes?.stop()
        self.notices.cancel()
        await self.notices.value
    }

    /// The state of the pending work. Any thread may update and read it.
    private final class Work: Sendable {
        private let clock: any MonotonicClock
        private let job: Mutex<RecoveryJob>

        init(_ doing: String, patience: Int64, _ clock: any MonotonicClock) {
            self.clock = clock
            self.job = Mutex(RecoveryJob(doing, patience: patience, at: clock.now()))
        }

        func begin(_ doing: String, patience: Int64) {
            let job = RecoveryJob(doing, patience: patience, at: self.clock.now())
            self.job.withLock { $0 = job }
        }

        func advanced() {
            let now = self.clock.now()
            self.job.withLock { $0.advanced(at: now) }
        }

        func finish() { self.job.withLock { $0.finish() } }

        var health: HealthReport {
            let now = self.clock.now()
            return self.job.withLock { $0.health(at: now) }
        }

        var serviceView: ServiceNotices.View {
            let now = self.clock.now()
            return self.job.withLock { $0.serviceView(at: now) }
        }
    }
}
