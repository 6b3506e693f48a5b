package import MediaTypes
import Stages
import Synchronization

/// The room's own clock: program time, nanoseconds since the room's `origin`.
///
/// States: waiting (nobody has published) → running (``start(at:)``), for ever. It never jumps and never stops before the
/// room ends; no source is its reference.
package final class ProgramClock: Sendable {
    private let start = Mutex<(zero: Int64, origin: Int64?)?>(nil)
    /// What ``start`` has, for the threads that ask with every packet: who hands one over and who is woken by it do so at once.
    private let knownZero = Atomic<Int64>(0)
    private let isStarted = Atomic<Bool>(false)
    private let machine: any MonotonicClock

    package init(machine: any MonotonicClock) { self.machine = machine }

    /// The machine's monotonic time at program time zero, once the program runs.
    package var zero: Int64? {
        // Acquiring: behind it the number is there, and never changes again.
        guard self.isStarted.load(ordering: .acquiring) else { return nil }
        return self.knownZero.load(ordering: .relaxed)
    }

    /// The world's time at program time zero, in nanoseconds since the Unix epoch; `nil` before the start, and where nobody
    /// has said it.
    package var origin: Int64? { self.start.withLock { $0?.origin } }

    /// Lets program time be `program` at the machine's time `machineTime`. Only the first call counts.
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

    /// Program time now; `nil` while nothing has started it.
    package func now() -> Int64? { self.zero.map { self.machine.now() &- $0 } }

    /// Program time of a machine time.
    package func program(of machineTime: Int64) -> Int64? { self.zero.map { machineTime &- $0 } }
}
