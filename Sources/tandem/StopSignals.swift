import Logging
import Room
import Synchronization
import UnixSignals

/// Obeys SIGINT and SIGTERM, from before there is a room.
///
/// A worker without a room, one that opens it or pays an ended one's debts, ends at once. By itself the system does the same,
/// but not to the first process of a container: there a signal that nobody has asked for is lost, and an engine waits out its
/// grace and kills.
final class StopSignals: Sendable {
    private struct State {
        var room: Room?
        var interrupts = 0
    }

    private let signals: UnixSignalsSequence
    private let state = Mutex(State())

    private init(_ signals: UnixSignalsSequence) { self.signals = signals }

    /// Asks for them; they wait until they are obeyed.
    static func trap() async -> StopSignals {
        StopSignals(await UnixSignalsSequence(trapping: .sigint, .sigterm))
    }

    /// They are for `room` from now on.
    func attach(_ room: Room) { self.state.withLock { $0.room = room } }

    /// Obeys until the task is cancelled: SIGINT once ends the room, twice aborts; SIGTERM drains. For a room that is over, each of
    /// them ends the time its viewers are served on.
    ///
    /// - Parameter leaving: Writes what waits to be written, before a worker without a room ends.
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
                // Of a room that is over, the second one ends the time its viewers are served on.
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
