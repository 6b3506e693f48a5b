import DequeModule
import Dispatch
import Stages
import Synchronization

/// Where scenes are built and texts are drawn while the program goes on: one thread, one job after the other.
///
/// States: idle (no thread yet) → running (from the first job) → closed (what was submitted is still done).
final class BuilderThread: Sendable {
    private struct State: Sendable {
        var jobs = Deque<@Sendable () -> Void>()
        var isRunning = false
        var isClosed = false
    }

    /// What the thread itself holds on to, so that whoever owns the builder can go.
    private final class Work: Sendable {
        let state = Mutex(State())
        let wake = DispatchSemaphore(value: 0)

        func run() {
            while true {
                let (job, isOver) = self.state.withLock { ($0.jobs.popFirst(), $0.isClosed) }
                if let job {
                    job()
                } else if isOver {
                    return
                } else {
                    self.wake.wait()
                }
            }
        }
    }

    private let work = Work()

    deinit { self.close() }

    /// - Parameter isUrgent: Before all that wait.
    /// - Returns: `false` when the builder is closed; the job will not be done.
    @discardableResult
    func submit(isUrgent: Bool = false, _ job: @escaping @Sendable () -> Void) -> Bool {
        let (accepted, starts) = self.work.state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed else { return (false, false) }
            if isUrgent { state.jobs.prepend(job) } else { state.jobs.append(job) }
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if starts { _ = StageThread("compose-build") { [work = self.work] in work.run() } }
        self.work.wake.signal()
        return accepted
    }

    /// Does `job` on the thread and waits for it.
    ///
    /// - Returns: `nil` when it was not done within `milliseconds`; it may still be done later.
    func wait<Value: Sendable>(
        milliseconds: Int, isUrgent: Bool = true, _ job: @escaping @Sendable () -> Value
    ) -> Value? {
        let result = Outcome<Value>()
        let done = DispatchSemaphore(value: 0)
        let accepted = self.submit(isUrgent: isUrgent) {
            let value = job()
            result.value.withLock { $0 = value }
            done.signal()
        }
        guard accepted, done.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
        return result.value.withLock { $0 }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    func close() {
        self.work.state.withLock { $0.isClosed = true }
        self.work.wake.signal()
    }
}
