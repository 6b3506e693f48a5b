import Dispatch

/// What one thread waits on until another thread signals, or for as long as a clock says; see ``SleepClock/makeSemaphore()``.
///
/// Counts: each signal ends one wait, also one that begins later. One thread waits at a time; any thread may signal.
package protocol ClockSemaphore: Sendable {
    /// Ends the wait of now, or else the next one.
    func signal()
    /// Blocks the calling thread until a signal, for at most so many nanoseconds of the clock.
    ///
    /// - Parameter nanoseconds: `nil`: there is no limit. Below zero: as zero.
    func wait(for nanoseconds: Int64?)
}

/// Waits in the machine's time.
private struct MachineSemaphore: ClockSemaphore {
    private let semaphore = DispatchSemaphore(value: 0)

    func signal() { self.semaphore.signal() }

    func wait(for nanoseconds: Int64?) {
        guard let nanoseconds else { return self.semaphore.wait() }
        _ = self.semaphore.wait(timeout: .now() + .nanoseconds(Int(clamping: max(0, nanoseconds))))
    }
}

extension SleepClock {
    /// Waits in the machine's time, whatever this clock tells.
    package func makeSemaphore() -> any ClockSemaphore { MachineSemaphore() }
}
