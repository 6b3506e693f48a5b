import Dispatch

/// A counting semaphore whose timeout is measured by a clock; see ``SleepClock/makeSemaphore()``.
///
/// Each signal ends one wait, including a wait that begins later. Only one thread waits at a time; any thread may
/// signal.
package protocol ClockSemaphore: Sendable {
    /// Ends the current wait, or the next one if no thread is waiting.
    func signal()
    /// Blocks the calling thread until a signal, or until `nanoseconds` have passed on the clock.
    ///
    /// - Parameter nanoseconds: Timeout; `nil`: none. Negative values count as 0.
    func wait(for nanoseconds: Int64?)
}

/// A semaphore whose timeouts use the machine's time.
private struct MachineSemaphore: ClockSemaphore {
    private let semaphore = DispatchSemaphore(value: 0)

    func signal() { self.semaphore.signal() }

    func wait(for nanoseconds: Int64?) {
        guard let nanoseconds else { return self.semaphore.wait() }
        _ = self.semaphore.wait(timeout: .now() + .nanoseconds(Int(clamping: max(0, nanoseconds))))
    }
}

extension SleepClock {
    /// Makes a semaphore whose timeouts use the machine's own time, not this clock.
    package func makeSemaphore() -> any ClockSemaphore { MachineSemaphore() }
}
