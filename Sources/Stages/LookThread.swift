import Dispatch
import Synchronization

/// Looks at something again and again, on a thread of its own: a file on a disk that hangs holds up nothing but the next look.
package final class LookThread: Sendable {
    private struct State {
        var isTold = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - name: See ``StageThread``.
    ///   - pace: Seconds between two looks.
    ///   - look: `isTold` after ``tell()``: somebody wants it looked at whether or not it seems changed.
    package init(_ name: String, every pace: Double = 1, _ look: @escaping @Sendable (_ isTold: Bool) -> Void) {
        _ = StageThread(name) { [self] in
            while let isTold = self.next(pace) { look(isTold) }
        }
    }

    /// Looks at once.
    package func tell() {
        self.state.withLock { $0.isTold = true }
        self.wake.signal()
    }

    /// No look begins after this; one that has begun may go on.
    package func stop() {
        self.state.withLock { $0.isStopped = true }
        self.wake.signal()
    }

    /// Waits for the next look. `nil`: there is none.
    private func next(_ pace: Double) -> Bool? {
        let isStopped = self.state.withLock(\.isStopped)
        if !isStopped { _ = self.wake.wait(timeout: .now() + pace) }
        return self.state.withLock { state in
            defer { state.isTold = false }
            return state.isStopped ? nil : state.isTold
        }
    }
}
