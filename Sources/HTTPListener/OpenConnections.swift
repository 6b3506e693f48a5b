import NIOCore
import Synchronization

/// The connections of one listener that are open now: counted, limited, and ended by a stop if they do not end by
/// themselves.
package final class OpenConnections: Sendable {
    private struct Entry {
        let channel: any Channel
        let address: String?
        /// Since when it has no request; `nil`: it has one.
        var idleSince: NIODeadline?
        /// Asked to go, and gone in a moment.
        var isLeaving = false
    }

    /// Whether a new connection stays, and which others go for it.
    struct Admission {
        let isAdmitted: Bool
        var leaving: [any Channel] = []
    }

    private struct State {
        var channels: [ObjectIdentifier: Entry] = [:]
        var perAddress: [String: Int] = [:]
        var unsent = 0
        var files = 0
    }

    private let state = Mutex(State())

    package var count: Int { self.state.withLock(\.channels.count) }

    /// Bytes that wait to be sent, as of the connections' last looks.
    package var unsentBytes: Int { self.state.withLock(\.unsent) }

    /// A connection is refused if its address has as many as it may have and none of them gives way; it does not count then.
    func opened(
        _ channel: any Channel, from address: String?, limits: HTTPListenerLimits, now: NIODeadline = .now()
    ) -> Admission {
        self.state.withLock { state in
            var admission = Admission(isAdmitted: true)
            if let address, let most = limits.connectionsPerAddress {
                if state.perAddress[address, default: 0] >= most {
                    guard limits.crowd != nil,
                        let other = Self.dismissIdlest(&state, of: address, before: now - HTTPListenerLimits.patience)
                    else { return Admission(isAdmitted: false) }
                    admission.leaving.append(other)
                }
                state.perAddress[address, default: 0] += 1
            }
            if let crowd = limits.crowd {
                var staying = state.channels.values.count { !$0.isLeaving } + 1
                while staying > crowd,
                    let other = Self.dismissIdlest(&state, before: now - HTTPListenerLimits.patience)
                {
                    admission.leaving.append(other)
                    staying -= 1
                }
                // One place is always free: whoever comes next is at least heard.
                if staying >= limits.connections, let other = Self.dismissIdlest(&state, before: now) {
                    admission.leaving.append(other)
                }
            }
            state.channels[ObjectIdentifier(channel)] = Entry(channel: channel, address: address, idleSince: now)
            return admission
        }
    }

    /// - Returns: The connection that has been without a request longest, since `limit` at least; it counts no more.
    private static func dismissIdlest(
        _ state: inout State, of address: String? = nil, before limit: NIODeadline
    ) -> (any Channel)? {
        var idlest: (key: ObjectIdentifier, since: NIODeadline)?
        for (key, entry) in state.channels where !entry.isLeaving && (address == nil || entry.address == address) {
            guard let since = entry.idleSince, since <= limit, since < idlest?.since ?? .distantFuture else { continue }
            idlest = (key, since)
        }
        guard let idlest else { return nil }
        state.channels[idlest.key]?.isLeaving = true
        return state.channels[idlest.key]?.channel
    }

    /// The connection has a request from here on.
    func busy(_ channel: any Channel) {
        self.state.withLock { $0.channels[ObjectIdentifier(channel)]?.idleSince = nil }
    }

    /// The connection's request has been answered.
    func idle(_ channel: any Channel) {
        let now = NIODeadline.now()
        self.state.withLock { $0.channels[ObjectIdentifier(channel)]?.idleSince = now }
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
        for channel in self.state.withLock({ $0.channels.values.map(\.channel) }) { channel.close(promise: nil) }
    }
}
