import DequeModule
import Dispatch
import Synchronization

/// A bounded queue between two stages. If the consumer is slow, producers wait or elements are rejected.
///
/// States: open (elements may be added) → closed (``close()``; remaining elements can still be taken) → drained.
///
/// With a batch, a waiting consumer is woken only when that many elements are available, not for each element: a stage
/// that processes several frames in a row still has its tables and its last frame in the CPU caches.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements = Deque<Element>()
        var isClosed = false
        var waitingTakers = 0
        var waitingPutters = 0
    }

    private enum EnqueueOutcome { case done(wake: Bool), full, closed }
    private enum DequeueOutcome { case element(Element, wake: Bool), empty, drained }

    private let state = Mutex(State())
    private let available = DispatchSemaphore(value: 0)
    private let room = DispatchSemaphore(value: 0)
    /// Maximum number of elements in the queue.
    package let capacity: Int
    /// Number of elements until which a consumer keeps waiting after it found the queue empty.
    private let batch: Int
    /// Number of free places until which a producer keeps waiting after it found the queue full.
    private let places: Int

    /// Creates an open, empty queue.
    ///
    /// - Parameters:
    ///   - batch: Number of elements at which a waiting consumer is woken, 1…`capacity`. If above 1, a waiting consumer
    ///     may get the last elements only when the queue is closed.
    ///   - places: Number of free places at which a waiting producer is woken, 1…`capacity`; by default the same as
    ///     `batch`.
    package init(capacity: Int, batch: Int = 1, places: Int? = nil) {
        self.capacity = max(1, capacity)
        self.batch = min(max(1, batch), self.capacity)
        self.places = min(max(1, places ?? batch), self.capacity)
    }

    /// Current number of elements in the queue.
    package var count: Int { self.state.withLock { $0.elements.count } }

    /// Adds an element without waiting.
    ///
    /// - Returns: `false` if the queue is full or closed; the element was not added then.
    package func offer(_ element: Element) -> Bool {
        let (accepted, wake) = self.state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed, state.elements.count < self.capacity else { return (false, false) }
            return (true, self.append(element, to: &state))
        }
        if wake { self.available.signal() }
        return accepted
    }

    /// Adds either all of the elements or none, without waiting.
    ///
    /// - Returns: `false` if there is no space for all elements, or the queue is closed.
    package func offer(all elements: [Element]) -> Bool {
        var takers = 0
        let isAccepted = self.state.withLock { state in
            guard !state.isClosed, state.elements.count + elements.count <= self.capacity else { return false }
            let before = state.elements.count
            // In one call: generic code looks up its type metadata on every call.
            state.elements.append(contentsOf: elements)
            // As if they had been added one after the other: from the batch's last element on, each wakes one consumer.
            takers = min(state.waitingTakers, max(0, state.elements.count - max(before, self.batch - 1)))
            state.waitingTakers -= takers
            return true
        }
        for _ in 0..<takers { self.available.signal() }
        return isAccepted
    }

    /// Adds an element. If the queue is full, waits until the number of free places set in
    /// ``init(capacity:batch:places:)`` is reached.
    ///
    /// - Returns: `false` if the queue is closed; the element was not added then.
    @discardableResult
    package func put(_ element: Element) -> Bool {
        while true {
            let outcome = self.state.withLock { state -> EnqueueOutcome in
                if state.isClosed { return .closed }
                if state.elements.count < self.capacity { return .done(wake: self.append(element, to: &state)) }
                state.waitingPutters += 1
                return .full
            }
            switch outcome {
            case .done(let wake):
                if wake { self.available.signal() }
                return true
            case .closed: return false
            case .full: self.room.wait()
            }
        }
    }

    /// Removes and returns the oldest element. If the queue is empty, waits until a batch of elements is available or
    /// the queue is closed.
    ///
    /// - Returns: `nil` if the queue is closed and empty.
    package func take() -> Element? {
        while true {
            let outcome = self.state.withLock { state -> DequeueOutcome in
                if let element = state.elements.popFirst() {
                    return .element(element, wake: self.admitsPutter(&state))
                }
                if state.isClosed { return .drained }
                state.waitingTakers += 1
                return .empty
            }
            switch outcome {
            case .element(let element, let wake):
                if wake { self.room.signal() }
                return element
            case .drained: return nil
            case .empty: self.available.wait()
            }
        }
    }

    /// Removes and returns the oldest element without waiting; `nil` if the queue is empty.
    package func poll() -> Element? {
        let (element, wake) = self.state.withLock { state -> (Element?, Bool) in
            guard let element = state.elements.popFirst() else { return (nil, false) }
            return (element, self.admitsPutter(&state))
        }
        if wake { self.room.signal() }
        return element
    }

    /// Closes the queue: no more elements can be added; consumers get the remaining ones and then `nil`.
    package func close() {
        let (takers, putters) = self.state.withLock { state -> (Int, Int) in
            state.isClosed = true
            defer {
                state.waitingTakers = 0
                state.waitingPutters = 0
            }
            return (state.waitingTakers, state.waitingPutters)
        }
        for _ in 0..<takers { self.available.signal() }
        for _ in 0..<putters { self.room.signal() }
    }

    /// Adds an element. If a consumer waits and a batch is complete, counts one consumer as woken.
    ///
    /// - Returns: Whether the caller must wake a consumer.
    private func append(_ element: Element, to state: inout State) -> Bool {
        state.elements.append(element)
        guard state.waitingTakers > 0, state.elements.count >= self.batch else { return false }
        state.waitingTakers -= 1
        return true
    }

    /// Counts a waiting producer as woken, if there are enough free places.
    ///
    /// - Returns: Whether a waiting producer must be woken after an element was removed.
    private func admitsPutter(_ state: inout State) -> Bool {
        guard state.waitingPutters > 0, state.elements.count <= self.capacity - self.places else { return false }
        state.waitingPutters -= 1
        return true
    }
}
