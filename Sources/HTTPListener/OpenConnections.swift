package import NIOCore
import Synchronization

/// The connections of one listener that are open now, so that a stop can end those that do not end by themselves.
package final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    package var count: Int { self.channels.withLock(\.count) }

    package func opened(_ channel: any Channel) {
        self.channels.withLock { $0[ObjectIdentifier(channel)] = channel }
    }

    package func closed(_ channel: any Channel) {
        self.channels.withLock { $0[ObjectIdentifier(channel)] = nil }
    }

    package func closeAll() {
        // Closed outside the lock: closing calls back into `closed(_:)`, on the connection's own loop or at once.
        for channel in self.channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
    }
}
