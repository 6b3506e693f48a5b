import Dispatch

/// The participation of one stage thread in a ``WorkLimiter``. Without a limiter, no method waits for a turn.
///
/// A thread has its turn while it works, and not while it waits for another limited thread, which may be waiting for a
/// turn: both would wait without end. So a thread that has its turn must use the queues to and from other limited threads
/// through this type. Used on one thread, which calls ``end()`` before it ends.
package struct WorkTurn {
    private let limiter: WorkLimiter?
    private let rank: Int
    /// Wakes the thread for its turn; `nil` without a limiter.
    private let wake: DispatchSemaphore?
    private var isHeld = false

    /// - Parameters:
    ///   - limiter: `nil`: there is no limit.
    ///   - rank: Threads with a higher rank go first.
    package init(_ limiter: WorkLimiter?, rank: Int) {
        self.limiter = limiter
        self.rank = rank
        self.wake = limiter.map { _ in DispatchSemaphore(value: 0) }
    }

    /// Waits for the thread's turn, unless it has it already.
    package mutating func begin() {
        guard let limiter, let wake, !self.isHeld else { return }
        limiter.begin(rank: self.rank, wake: wake)
        self.isHeld = true
    }

    /// Ends the thread's turn, if it has it.
    package mutating func end() {
        guard let limiter, self.isHeld else { return }
        self.isHeld = false
        limiter.end()
    }

    /// Removes and returns the oldest element, as ``BoundedQueue/take()`` does. The thread has its turn afterwards, also
    /// if the result is `nil`. If it had its turn before, only threads with a higher rank go first.
    package mutating func take<Element>(from queue: BoundedQueue<Element>) -> Element? {
        guard let limiter, let wake else { return queue.take() }
        if self.isHeld {
            if let element = queue.poll() {
                limiter.yield(rank: self.rank, wake: wake)
                return element
            }
            self.end()
        }
        let element = queue.take()
        self.begin()
        return element
    }

    /// Adds an element, as ``BoundedQueue/put(_:)`` does. If the thread has its turn and the queue is full, the turn
    /// ends while the thread waits for space, and begins again.
    package mutating func put<Element>(_ element: Element, into queue: BoundedQueue<Element>) {
        guard self.isHeld else {
            queue.put(element)
            return
        }
        if queue.offer(element) { return }
        self.end()
        queue.put(element)
        self.begin()
    }
}
