package import PipelineSpec
import Synchronization

/// A room's policy for connections that requests ask for. Any thread may call.
package final class EgressGate: Sendable {
    private let current: Mutex<EgressPolicy>

    package init(_ policy: EgressPolicy) { self.current = Mutex(policy) }

    /// In force from the next connection on; connections that are open stay.
    package var policy: EgressPolicy {
        get { self.current.withLock { $0 } }
        set { self.current.withLock { $0 = newValue } }
    }
}
