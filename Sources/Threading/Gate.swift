import Synchronization

/// Guards calls to an object that ends, such as an event loop, for callers that do not know whether it has ended. The
/// gate is open until ``close()``, which waits for a call in progress.
package final class Gate: Sendable {
    private let isOpen = Mutex(true)

    package init() {}

    /// Runs `work` on the calling thread, or not at all if the gate is closed. One call runs at a time, and never
    /// concurrently with ``close()``; others wait. `work` must be short and must not use the gate.
    ///
    /// - Returns: Whether `work` was run.
    @discardableResult
    package func pass(_ work: () -> Void) -> Bool {
        self.isOpen.withLock { isOpen in
            if isOpen { work() }
            return isOpen
        }
    }

    /// Closes the gate, after a call in progress has returned: no further call passes.
    package func close() { self.isOpen.withLock { $0 = false } }
}
