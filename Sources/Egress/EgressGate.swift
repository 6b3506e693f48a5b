package import PipelineSpec
import Synchronization

/// Holds the room's current policy for connections to the servers of relays, RTMP outputs and webhooks. Callable from
/// any thread.
package final class EgressGate: Sendable {
    private let current: Mutex<EgressPolicy>

    package init(_ policy: EgressPolicy) { self.current = Mutex(policy) }

    /// The current policy. A new value applies to new connections; open connections are not closed.
    package var policy: EgressPolicy {
        get { self.current.withLock { $0 } }
        set { self.current.withLock { $0 = newValue } }
    }
}
