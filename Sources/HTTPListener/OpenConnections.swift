package import NIOCore
import Synchronization

/// The connections of one listener that are open now, so that a stop can end those that do not end by themselves.
package final class OpenConnections: Sendable {
    private struct Connection {
        let channel: any Channel
        let client: ClientPresence
    }

    private let connections = Mutex<[ObjectIdentifier: Connection]>([:])

    package var count: Int { self.connections.withLock(\.count) }

    package func opened(_ channel: any Channel) {
        let connection = Connection(channel: channel, client: ClientPresence())
        self.connections.withLock { $0[ObjectIdentifier(channel)] = connection }
    }

    package func closed(_ channel: any Channel) {
        self.connections.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }?.client.leave()
    }

    /// The client at the other end; one that has left where the connection is not open.
    package func client(of channel: any Channel) -> ClientPresence {
        if let client = self.connections.withLock({ $0[ObjectIdentifier(channel)]?.client }) { return client }
        let gone = ClientPresence()
        gone.leave()
        return gone
    }

    package func closeAll() {
        // Closed outside the lock: closing calls back into `closed(_:)`, on the connection's own loop or at once.
        for connection in self.connections.withLock({ Array($0.values) }) { connection.channel.close(promise: nil) }
    }
}
