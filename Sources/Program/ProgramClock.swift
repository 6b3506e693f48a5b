package import MediaTypes
import Synchronization

/// The room's own clock: program time, in nanoseconds since the room's `origin`.
///
/// States: waiting (no publisher yet) → running (``start(at:program:origin:)``), until the room ends. It follows the
/// machine's monotonic clock at a constant distance, never a source.
package final class ProgramClock: Sendable {
    private let start = Mutex<(zero: Int64, origin: Int64?)?>(nil)
    /// ``zero``, readable without the lock of ``start``, because several threads read it for every packet.
    private let knownZero = Atomic<Int64>(0)
    private let isStarted = Atomic<Bool>(false)
    private let machine: any MonotonicClock

    package init(machine: any MonotonicClock) { self.machine = machine }

    /// Monotonic machine time at program time zero; `nil` before the start.
    package var zero: Int64? {
        // Acquire ordering: after it, `knownZero` is set and never changes again.
        guard self.isStarted.load(ordering: .acquiring) else { return nil }
        return self.knownZero.load(ordering: .relaxed)
    }

    /// Wall-clock time at program time zero, in nanoseconds since the Unix epoch; `nil` before the start, or if
    /// ``start(at:program:origin:)`` did not set it.
    package var origin: Int64? { self.start.withLock { $0?.origin } }

    /// Starts the clock: program time is `program` at machine time `machineTime`. Only the first call has an effect.
    ///
    /// - Parameter origin: See ``origin``.
    package func start(at machineTime: Int64, program: Int64, origin: Int64? = nil) {
        self.start.withLock { start in
            guard start == nil else { return }
            start = (machineTime &- program, origin)
            self.knownZero.store(machineTime &- program, ordering: .relaxed)
            self.isStarted.store(true, ordering: .releasing)
        }
    }

    /// Current program time; `nil` before the start.
    package func now() -> Int64? { self.zero.map { self.machine.now() &- $0 } }

    /// Converts a machine time to program time; `nil` before the start.
    package func program(of machineTime: Int64) -> Int64? { self.zero.map { machineTime &- $0 } }
}
