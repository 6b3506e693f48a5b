import Synchronization

/// The way to something that ends, such as an event loop, for those who do not know whether it has: open until ``close()``, which
/// waits for whoever is on the way.
package final class Gate: Sendable {
    private let isOpen = Mutex(true)

    package init() {}

    /// Does `work` at once, or never once the gate is closed; not both at once with ``close()``. It must be short, and must not
    /// come back to the gate.
    ///
    /// - Returns: Whether it was done.
    @discardableResult
    package func pass(_ work: () -> Void) -> Bool {
        self.isOpen.withLock { isOpen in
            if isOpen { work() }
            return isOpen
        }
    }

    /// From here on nothing passes.
    package func close() { self.isOpen.withLock { $0 = false } }
}
