import NIOCore
import Synchronization

/// The way back to a listener's event loops for answers that come from elsewhere, closed before the loops end: an answer that
/// comes later finds its client gone and is dropped.
final class LoopGate: Sendable {
    private let isOpen = Mutex(true)

    /// Runs `work` on `loop` soon, or never once the gate is closed.
    func execute(on loop: any EventLoop, _ work: @escaping @Sendable () -> Void) {
        // Under the lock, so that the loop cannot end between the question and the call.
        self.isOpen.withLock { isOpen in
            if isOpen { loop.execute(work) }
        }
    }

    func close() { self.isOpen.withLock { $0 = false } }
}
