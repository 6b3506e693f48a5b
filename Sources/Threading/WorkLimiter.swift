import Dispatch
import Synchronization

/// Limits how many stage threads work at the same time. If more of them have work, those with the highest rank go
/// first; of equal ranks, the one that has waited longest.
///
/// Without a limit, the kernel gives all threads of a job the same share of the cores. The heaviest stage then falls
/// behind, and works alone while the other stages wait for it and other cores are idle. With as many threads as cores and
/// the highest rank, the heaviest stage has a core whenever it has work.
///
/// Each thread takes part through a ``WorkTurn``.
package final class WorkLimiter: Sendable {
    private struct Waiter {
        var rank: Int
        var wake: DispatchSemaphore
    }

    private struct State {
        /// Number of threads that may begin at once. Above 0 only while no thread waits.
        var free: Int
        /// The waiting threads, in the order in which they began to wait.
        var waiters: [Waiter] = []

        /// Removes and returns the waiter that is next; `nil` if no waiter's rank is above `rank`.
        mutating func next(above rank: Int = .min) -> Waiter? {
            var (best, highest): (Int?, Int) = (nil, rank)
            for index in self.waiters.indices where self.waiters[index].rank > highest {
                (best, highest) = (index, self.waiters[index].rank)
            }
            return best.map { self.waiters.remove(at: $0) }
        }
    }

    private let state: Mutex<State>

    /// Creates a limiter without any thread.
    ///
    /// - Parameter limit: Maximum number of threads that work at the same time; less than 1 counts as 1.
    package init(limit: Int) { self.state = Mutex(State(free: max(1, limit))) }

    /// Number of threads that have work and wait for their turn.
    package var waiting: Int { self.state.withLock { $0.waiters.count } }

    /// Waits until the calling thread may work. Each call must be followed by ``end()``.
    ///
    /// - Parameter wake: A semaphore of the calling thread with value 0, which it uses for nothing else.
    func begin(rank: Int, wake: DispatchSemaphore) {
        let waits = self.state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return false
            }
            state.waiters.append(Waiter(rank: rank, wake: wake))
            return true
        }
        // The thread that signals passes its own permission on, so there is nothing to count after the wait.
        if waits { wake.wait() }
    }

    /// Ends the work of the calling thread: the waiting thread with the highest rank may work instead.
    func end() {
        let next = self.state.withLock { state in
            let next = state.next()
            if next == nil { state.free += 1 }
            return next
        }
        next?.wake.signal()
    }

    /// Lets a waiting thread work instead of the calling one if its rank is higher, and waits until the calling thread
    /// may work again; returns at once if there is none.
    func yield(rank: Int, wake: DispatchSemaphore) {
        let next = self.state.withLock { state in
            let next = state.next(above: rank)
            if next != nil { state.waiters.append(Waiter(rank: rank, wake: wake)) }
            return next
        }
        guard let next else { return }
        next.wake.signal()
        wake.wait()
    }
}
