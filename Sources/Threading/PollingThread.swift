import Dispatch
import Synchronization

/// Runs a check periodically on its own thread, so that for example a file on a hanging disk delays only the next
/// check.
package final class PollingThread: Sendable {
    private struct Requests {
        var isTold = false
        var isStopped = false
    }

    private let requests = Mutex(Requests())
    private let wake = DispatchSemaphore(value: 0)

    /// Starts the thread. The first poll follows after `pace` seconds, or at ``tell()`` if that is earlier.
    ///
    /// - Parameters:
    ///   - name: Name of the thread; see ``StageThread``.
    ///   - pace: Seconds from the end of one poll to the next.
    ///   - seen: State before the first poll.
    ///   - look: Called on the thread for each poll with the state, which `look` may change. `isTold` is `true` if
    ///     ``tell()`` was called since the previous poll: then `look` must act even if nothing seems to have changed.
    package init<Seen: Sendable>(
        _ name: String, every pace: Double = 1, _ seen: Seen,
        _ look: @escaping @Sendable (_ seen: inout Seen, _ isTold: Bool) -> Void
    ) {
        _ = StageThread(name) { [self] in
            var seen = seen
            while let isTold = self.next(pace) { look(&seen, isTold) }
        }
    }

    /// Requests a poll now, or directly after the one in progress. Does not wait for it.
    package func tell() {
        self.requests.withLock { $0.isTold = true }
        self.wake.signal()
    }

    /// Stops polling. Does not wait for a poll in progress.
    package func stop() {
        self.requests.withLock { $0.isStopped = true }
        self.wake.signal()
    }

    /// Waits until the next poll is due, and returns whether ``tell()`` was called; `nil` after ``stop()``.
    private func next(_ pace: Double) -> Bool? {
        let isStopped = self.requests.withLock(\.isStopped)
        if !isStopped { _ = self.wake.wait(timeout: .now() + pace) }
        return self.requests.withLock { requests in
            defer { requests.isTold = false }
            return requests.isStopped ? nil : requests.isTold
        }
    }
}
