import DequeModule
import Dispatch
import Threading
import Synchronization

/// The thread that builds scenes and draws texts in a live room, so that the program thread does not have to; it runs
/// one job after the other.
///
/// States: idle (no thread yet) → running (from the first job) → closed (submitted jobs still run).
final class BuilderThread: Sendable {
    private struct State: Sendable {
        var jobs = Deque<@Sendable () -> Void>()
        var isRunning = false
        var isClosed = false
    }

    /// State that the thread holds, so that the thread does not keep the builder itself alive.
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

    /// Queues a job and starts the thread if needed.
    ///
    /// - Parameter isUrgent: Run it before all waiting jobs.
    /// - Returns: `false` if the builder is closed; the job will not run.
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

    /// Runs `job` on the thread, before all waiting jobs unless `isUrgent` is `false`, and waits for its result.
    ///
    /// - Returns: `nil` if the builder is closed, or if the job did not finish within `milliseconds`; it may still
    ///   finish later.
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
