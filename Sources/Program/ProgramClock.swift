package import MediaTypes
import Stages
import Synchronization

/// The room's own clock: program time, nanoseconds since the room's `origin`.
///
/// States: waiting (nobody has published) → running (``start(at:)``), for ever. It never jumps and never stops before the
/// room ends; no source is its reference.
package final class ProgramClock: Sendable {
    private let start = Mutex<(zero: Int64, origin: Int64?)?>(nil)
    private let machine: any MonotonicClock

    package init(machine: any MonotonicClock) { self.machine = machine }

    /// The machine's monotonic time at program time zero, once the program runs.
    package var zero: Int64? { self.start.withLock { $0?.zero } }

    /// The world's time at program time zero, in nanoseconds since the Unix epoch; `nil` before the start, and where nobody
    /// has said it.
    package var origin: Int64? { self.start.withLock { $0?.origin } }

    /// Lets program time be `program` at the machine's time `machineTime`. Only the first call counts.
    ///
    /// - Parameter origin: See ``origin``.
    package func start(at machineTime: Int64, program: Int64, origin: Int64? = nil) {
        self.start.withLock { if $0 == nil { $0 = (machineTime &- program, origin) } }
    }

    /// Program time now; `nil` while nothing has started it.
    package func now() -> Int64? { self.zero.map { self.machine.now() &- $0 } }

    /// Program time of a machine time.
    package func program(of machineTime: Int64) -> Int64? { self.zero.map { machineTime &- $0 } }
}
