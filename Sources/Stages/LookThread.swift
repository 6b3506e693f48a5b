import Dispatch
import Synchronization

/// Looks at something again and again, on a thread of its own: a file on a disk that hangs holds up nothing but the next look.
package final class LookThread: Sendable {
    private struct Requests {
        var isTold = false
        var isStopped = false
    }

    private let requests = Mutex(Requests())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - name: See ``StageThread``.
    ///   - pace: Seconds between two looks.
    ///   - seen: What is known before the first look.
    ///   - look: Gets `seen`, which it may change for the next look; the thread alone has it. `isTold` after ``tell()``: somebody wants
    ///     it looked at whether or not it seems changed.
    package init<Seen: Sendable>(
        _ name: String, every pace: Double = 1, _ seen: Seen,
        _ look: @escaping @Sendable (_ seen: inout Seen, _ isTold: Bool) -> Void
    ) {
        _ = StageThread(name) { [self] in
            var seen = seen
            while let isTold = self.next(pace) { look(&seen, isTold) }
        }
    }

    /// Looks at once.
    package func tell() {
        self.requests.withLock { $0.isTold = true }
        self.wake.signal()
    }

    /// No look begins after this; one that has begun may go on.
    package func stop() {
        self.requests.withLock { $0.isStopped = true }
        self.wake.signal()
    }

    /// Waits for the next look. `nil`: there is none.
    private func next(_ pace: Double) -> Bool? {
        let isStopped = self.requests.withLock(\.isStopped)
        if !isStopped { _ = self.wake.wait(timeout: .now() + pace) }
        return self.requests.withLock { requests in
            defer { requests.isTold = false }
            return requests.isStopped ? nil : requests.isTold
        }
    }
}
