package import PipelineSpec
import Synchronization

/// A room's policy for connections that API requests make it open. Callable from any thread.
package final class EgressGate: Sendable {
    private let current: Mutex<EgressPolicy>

    package init(_ policy: EgressPolicy) { self.current = Mutex(policy) }

    /// Applies to new connections; open connections stay.
    package var policy: EgressPolicy {
        get { self.current.withLock { $0 } }
        set { self.current.withLock { $0 = newValue } }
    }
}
