import Control
import Logging
import MediaTypes
import PipelineSpec
import Room

/// Keeps an engine from taking a worker for dead that finishes what an ended room left behind: probes are answered at the room's control
/// address, and a service manager is told.
struct SettlementWatch {
    let settlement: Settlement
    private let notices: Task<Void, Never>
    private let probes: ProbeServer?

    /// - Parameters:
    ///   - doing, patience: See ``Settlement/begin(_:patience:)``.
    ///   - clock: Measures how long a step takes.
    static func begin(
        _ doing: String, patience: Int64, _ pipeline: Pipeline, clock: any MonotonicClock, _ logger: Logger
    ) async -> SettlementWatch {
        let settlement = Settlement(doing, patience: patience, clock: clock)
        let notices = Task {
            if let notifier = ServiceNotifier.open() { await notifier.follow { settlement.serviceView } }
        }
        var probes: ProbeServer?
        do throws(MediaError) {
            probes = try await ProbeServer.start(listen: pipeline.control.listen, logger: logger) { settlement.health }
        } catch {
            // What is owed does not wait for probes.
            logger.warning("no probe can be answered", metadata: ["error": "\(error)"])
        }
        return SettlementWatch(settlement: settlement, notices: notices, probes: probes)
    }

    /// - Parameter isOver: All is done, and the worker with it; a service manager starts it again otherwise.
    func end(isOver: Bool) async {
        if isOver { self.settlement.finish() }
        await self.probes?.stop()
        self.notices.cancel()
        await self.notices.value
    }
}
