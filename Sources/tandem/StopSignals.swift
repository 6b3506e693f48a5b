import Logging
import Room
import Synchronization
import UnixSignals

/// Handles SIGINT and SIGTERM, even before the room is open.
///
/// A worker that is still opening its room, or that finishes the work of an ended room, exits at once. The system would
/// do the same by default, but not for the first process of a container: there a signal without a handler is ignored,
/// so the orchestrator would wait for its grace period and then kill the process.
final class StopSignals: Sendable {
    private struct State {
        var room: Room?
        var interrupts = 0
    }

    private let signals: UnixSignalsSequence
    private let state = Mutex(State())

    private init(_ signals: UnixSignalsSequence) { self.signals = signals }

    /// Installs the handlers; signals are queued until ``obey(_:leaving:)`` runs.
    static func trap() async -> StopSignals {
        StopSignals(await UnixSignalsSequence(trapping: .sigint, .sigterm))
    }

    /// Sets the room that the signals apply to from now on.
    func attach(_ room: Room) { self.state.withLock { $0.room = room } }

    /// Handles signals until the task is cancelled: the first SIGINT ends the room, the second exits at once if the room
    /// has not ended; SIGTERM stops the worker and leaves the room to a successor. If the room has ended, either signal
    /// ends the time in which only viewers are served.
    ///
    /// - Parameter leaving: Writes pending output before a worker without a room exits.
    func obey(_ logger: Logger, leaving: @Sendable () -> Void) async {
        for await signal in self.signals {
            let (room, interrupts) = self.state.withLock { state in
                if signal == .sigint { state.interrupts += 1 }
                return (state.room, state.interrupts)
            }
            guard let room else { Self.leave(signal == .sigterm ? .drained : .interruptedTwice, logger, leaving) }
            if signal == .sigterm {
                room.drain(reason: "SIGTERM")
            } else {
                // If the room has ended, the second one ends the time in which only viewers are served.
                if interrupts > 1, !room.endLingering() { RoomProcess.exit(.interruptedTwice) }
                room.end(reason: "SIGINT")
            }
        }
    }

    private static func leave(_ status: ExitStatus, _ logger: Logger, _ leaving: () -> Void) -> Never {
        leaving()
        _ = RoomRunner.say(status, "ok", logger)
        LogOutput.finish()
        RoomProcess.exit(status)
    }
}
