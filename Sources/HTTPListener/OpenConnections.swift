import NIOCore
import Synchronization

/// The connections of one listener that are open now: counted, limited, and ended by a stop if they do not end by
/// themselves.
package final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var perAddress: [String: Int] = [:]
        var unsent = 0
        var files = 0
    }

    private let state = Mutex(State())

    package var count: Int { self.state.withLock(\.channels.count) }

    /// Bytes that wait to be sent, as of the connections' last looks.
    package var unsentBytes: Int { self.state.withLock(\.unsent) }

    /// - Returns: False if the address has as many connections as it may have; the connection does not count then.
    func opened(_ channel: any Channel, from address: String?, mostPerAddress: Int?) -> Bool {
        self.state.withLock { state in
            if let address, let mostPerAddress {
                guard state.perAddress[address, default: 0] < mostPerAddress else { return false }
                state.perAddress[address, default: 0] += 1
            }
            state.channels[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    func closed(_ channel: any Channel, from address: String?, unsent: Int) {
        self.state.withLock { state in
            state.channels.removeValue(forKey: ObjectIdentifier(channel))
            state.unsent -= unsent
            guard let address, let count = state.perAddress[address] else { return }
            state.perAddress[address] = count > 1 ? count - 1 : nil
        }
    }

    /// A connection's unsent bytes have become more or fewer.
    ///
    /// - Returns: Those of all connections.
    func unsentChanged(by difference: Int) -> Int {
        self.state.withLock { state in
            state.unsent += difference
            return state.unsent
        }
    }

    /// One more reply that holds a piece of a file; false if there are too many.
    func takeFilePiece(limit: Int) -> Bool {
        self.state.withLock { state in
            guard state.files < limit else { return false }
            state.files += 1
            return true
        }
    }

    func giveFilePieceBack() { self.state.withLock { $0.files -= 1 } }

    package func closeAll() {
        // Closed outside the lock: closing calls back into `closed(…)`, on the connection's own loop or at once.
        for channel in self.state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }
}
