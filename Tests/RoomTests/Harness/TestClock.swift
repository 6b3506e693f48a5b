import Dispatch
import Glibc
import MediaTypes
import Threading
import Synchronization

/// A monotonic clock that stands still until a test moves it.
///
/// Every thread that has waited on the clock belongs to it from then on. Time moves only while all of them wait, and goes from one
/// thread's deadline to the next: one thread is woken, and the next one when that thread waits again. So what these threads do, and
/// in which order, depends on the clock alone, however busy the machine is.
///
/// Threads that never wait on the clock (encoders, the packager, event loops) are not waited for.
final class TestClock: SleepClock {
    /// A thread did not come to rest, or something did not happen, in real time.
    struct Timeout: Error, CustomStringConvertible {
        let description: String
    }

    /// Real seconds that anything here waits at most.
    static let patience = 20.0

    private struct Sleeper {
        var deadline: Int64
        /// Threads with the same deadline are woken in the order in which they began to wait.
        var order: Int
        /// The number of the semaphore it waits on; `nil`: it sleeps until a time.
        var semaphore: Int?
        let wake = DispatchSemaphore(value: 0)
    }

    private struct State {
        var now: Int64
        /// By thread id.
        var sleepers: [Int: Sleeper] = [:]
        /// Threads of the clock that do something now.
        var running: Set<Int> = []
        /// Threads that have slept until a time, rather than waited on a semaphore: the program's.
        var timekeepers: Set<Int> = []
        /// Signals that nobody has taken, by semaphore.
        var signals: [Int: Int] = [:]
        var semaphores = 0
        var order = 0
        var isFrozen = false
    }

    private let state: Mutex<State>
    /// Signalled whenever a thread begins to wait.
    private let rested = DispatchSemaphore(value: 0)

    init(now: Int64) { self.state = Mutex(State(now: now)) }

    func now() -> Int64 { self.state.withLock { $0.now } }

    func sleep(until deadline: Int64) {
        self.wait(on: nil) { _ in deadline }
    }

    func makeSemaphore() -> any ClockSemaphore {
        TestSemaphore(
            clock: self,
            number: self.state.withLock { state in
                state.semaphores += 1
                return state.semaphores
            })
    }

    // MARK: The room's threads

    private struct TestSemaphore: ClockSemaphore {
        let clock: TestClock
        let number: Int

        func signal() { self.clock.signal(self.number) }

        func wait(for nanoseconds: Int64?) {
            self.clock.wait(on: self.number) { now in nanoseconds.map { now &+ max(0, $0) } ?? .max }
        }
    }

    private func signal(_ semaphore: Int) {
        let wake = self.state.withLock { state -> DispatchSemaphore? in
            guard !state.isFrozen, let waiting = state.sleepers.first(where: { $0.value.semaphore == semaphore }) else {
                state.signals[semaphore, default: 0] += 1
                return nil
            }
            return Self.wake(waiting.key, &state)
        }
        wake?.signal()
    }

    private static func wake(_ thread: Int, _ state: inout State) -> DispatchSemaphore? {
        guard let sleeper = state.sleepers.removeValue(forKey: thread) else { return nil }
        state.running.insert(thread)
        return sleeper.wake
    }

    private func wait(on semaphore: Int?, _ deadline: (_ now: Int64) -> Int64) {
        let thread = Self.currentThread
        let wake = self.state.withLock { state -> DispatchSemaphore? in
            if semaphore == nil { state.timekeepers.insert(thread) }
            state.running.insert(thread)
            if !state.isFrozen, let semaphore, let count = state.signals[semaphore], count > 0 {
                state.signals[semaphore] = count - 1
                return nil
            }
            let deadline = deadline(state.now)
            guard state.isFrozen || deadline > state.now else { return nil }
            state.order += 1
            let sleeper = Sleeper(deadline: deadline, order: state.order, semaphore: semaphore)
            state.running.remove(thread)
            state.sleepers[thread] = sleeper
            return sleeper.wake
        }
        guard let wake else { return }
        self.rested.signal()
        // No test is as long as this: its room is left behind, and its threads end as if their times had come.
        while wake.wait(timeout: .now() + 3 * Self.patience) == .timedOut {
            let isLeftBehind = self.state.withLock { state in
                !state.isFrozen && Self.wake(thread, &state) != nil
            }
            if isLeftBehind { return }
        }
    }

    /// The kernel's number of the calling thread.
    private static var currentThread: Int {
        var link = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/thread-self", &link, 64)
        // PID/task/TID.
        let digits = link.prefix(max(0, count)).reversed().prefix { $0 != CChar(bitPattern: UInt8(ascii: "/")) }
        return digits.reversed().reduce(0) { $0 * 10 + Int($1) - 48 }
    }

    // MARK: The test's side

    /// Moves time to `target`, deadline by deadline. Blocks until every thread has done what was due up to then.
    ///
    /// - Parameter between: Called before each deadline, while the clock's threads wait.
    func advance(to target: Int64, _ between: () throws -> Void = {}) throws {
        while true {
            try self.settle()
            try between()
            let wake = self.state.withLock { state -> DispatchSemaphore? in
                let next = state.sleepers.min {
                    ($0.value.deadline, $0.value.order) < ($1.value.deadline, $1.value.order)
                }
                guard let next, next.value.deadline <= target else {
                    state.now = max(state.now, target)
                    return nil
                }
                state.now = max(state.now, next.value.deadline)
                return Self.wake(next.key, &state)
            }
            guard let wake else { return }
            wake.signal()
        }
    }

    /// Blocks until every thread of the clock waits.
    func settle() throws { try self.settle("the room's threads do not come to rest") { $0.running.isEmpty } }

    /// Blocks until at least `count` threads belong to the clock, and all of them wait.
    func waitForThreads(_ count: Int) throws {
        try self.settle("fewer than \(count) threads wait for the clock") {
            $0.running.isEmpty && $0.sleepers.count >= count
        }
    }

    /// Blocks until the program's thread sleeps until its next tick.
    func waitForTimekeeper() throws {
        try self.settle("the program does not sleep") { state in
            state.running.isEmpty && !state.timekeepers.isDisjoint(with: state.sleepers.keys)
        }
    }

    /// Whether a thread that sleeps until a time is still there.
    var hasTimekeeper: Bool {
        self.prune()
        return self.state.withLock { !$0.timekeepers.isEmpty }
    }

    /// What waits on the clock waits for ever, as if the process had been killed.
    func freeze() { self.state.withLock { $0.isFrozen = true } }

    private func settle(_ failure: String, until isReached: (inout State) -> Bool) throws {
        let limit = DispatchTime.now() + Self.patience
        while !self.state.withLock({ isReached(&$0) }) {
            guard self.rested.wait(timeout: .now() + .milliseconds(2)) == .timedOut else { continue }
            self.prune()
            if .now() > limit { throw Timeout(description: failure) }
        }
    }

    /// Forgets threads that have ended.
    private func prune() {
        let running = self.state.withLock { $0.running }
        let ended = running.filter { access("/proc/self/task/\($0)", F_OK) != 0 }
        guard !ended.isEmpty else { return }
        self.state.withLock { state in
            state.running.subtract(ended)
            state.timekeepers.subtract(ended)
        }
    }
}
