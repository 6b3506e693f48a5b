import DequeModule
import Dispatch
import Synchronization

/// A queue between two stages, bounded by what it holds; media flows one way through it and back-pressure the other.
///
/// States: open (elements may be put) → closed (``close()``; what is inside can still be taken) → drained.
///
/// With a batch, whoever had to wait is woken when there is so much to do, not for each element: a stage that does several
/// pictures in a row finds its tables and its last picture in the caches.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements = Deque<Element>()
        var isClosed = false
        var waitingTakers = 0
        var waitingPutters = 0
    }

    private enum PutOutcome { case done(wake: Bool), full, closed }
    private enum TakeOutcome { case element(Element, wake: Bool), empty, drained }

    private let state = Mutex(State())
    private let available = DispatchSemaphore(value: 0)
    private let room = DispatchSemaphore(value: 0)
    /// Elements the queue holds at most.
    package let capacity: Int
    /// Elements a taker that found none waits for.
    private let batch: Int
    /// Places a putter that found none waits for.
    private let places: Int

    /// - Parameters:
    ///   - batch: 1…`capacity`. Above 1 the last elements are only taken when the queue is closed.
    ///   - places: 1…`capacity`; as `batch` by default.
    package init(capacity: Int, batch: Int = 1, places: Int? = nil) {
        self.capacity = max(1, capacity)
        self.batch = min(max(1, batch), self.capacity)
        self.places = min(max(1, places ?? batch), self.capacity)
    }

    /// Elements inside right now.
    package var count: Int { self.state.withLock { $0.elements.count } }

    /// Puts an element without waiting.
    ///
    /// - Returns: `false` when the queue is full or closed; the element is not in it then.
    package func offer(_ element: Element) -> Bool {
        let (accepted, wake) = self.state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed, state.elements.count < self.capacity else { return (false, false) }
            return (true, self.append(element, to: &state))
        }
        if wake { self.available.signal() }
        return accepted
    }

    /// Puts elements that came together without waiting: all of them, or none.
    ///
    /// - Returns: `false` when there is no room for all, or the queue is closed.
    package func offer(all elements: [Element]) -> Bool {
        var takers = 0
        let isAccepted = self.state.withLock { state in
            guard !state.isClosed, state.elements.count + elements.count <= self.capacity else { return false }
            let before = state.elements.count
            // At once: what is generic here looks its types up for each call.
            state.elements.append(contentsOf: elements)
            // As if they had been put one after the other: each from the batch's last on wakes one.
            takers = min(state.waitingTakers, max(0, state.elements.count - max(before, self.batch - 1)))
            state.waitingTakers -= takers
            return true
        }
        for _ in 0..<takers { self.available.signal() }
        return isAccepted
    }

    /// Puts an element without waiting, beyond the capacity if need be: for the rare ones that must not be lost, such as a
    /// change of format. Does nothing when the queue is closed.
    package func force(_ element: Element) {
        let wake = self.state.withLock { state in state.isClosed ? false : self.append(element, to: &state) }
        if wake { self.available.signal() }
    }

    /// Puts an element, waiting while the queue is full.
    ///
    /// - Returns: `false` when the queue is closed.
    @discardableResult
    package func put(_ element: Element) -> Bool {
        while true {
            let outcome = self.state.withLock { state -> PutOutcome in
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

    /// Takes the oldest element, waiting while the queue is empty.
    ///
    /// - Returns: `nil` when the queue is closed and empty.
    package func take() -> Element? {
        while true {
            let outcome = self.state.withLock { state -> TakeOutcome in
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

    /// Takes the oldest element without waiting; `nil` when there is none right now.
    package func poll() -> Element? {
        let (element, wake) = self.state.withLock { state -> (Element?, Bool) in
            guard let element = state.elements.popFirst() else { return (nil, false) }
            return (element, self.admitsPutter(&state))
        }
        if wake { self.room.signal() }
        return element
    }

    /// No more elements come; takers get what is left and then `nil`.
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

    /// - Returns: Whether a taker waits and must be woken.
    private func append(_ element: Element, to state: inout State) -> Bool {
        state.elements.append(element)
        guard state.waitingTakers > 0, state.elements.count >= self.batch else { return false }
        state.waitingTakers -= 1
        return true
    }

    /// - Returns: Whether a putter waits and must be woken, now that an element is gone.
    private func admitsPutter(_ state: inout State) -> Bool {
        guard state.waitingPutters > 0, state.elements.count <= self.capacity - self.places else { return false }
        state.waitingPutters -= 1
        return true
    }
}
