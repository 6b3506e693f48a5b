import NIOCore
import Synchronization

/// Tracks the open connections of one listener: counts and limits them, and closes the remaining ones when the listener
/// stops.
package final class OpenConnections: Sendable {
    private struct Entry {
        let channel: any Channel
        let address: String?
        /// Number of requests without a complete reply: at most one of an HTTP/1.1 connection, one of each HTTP/2
        /// stream.
        var requests = 0
        /// Time since which the connection has had no request, or at which it was opened; for ``requests`` of 0.
        var idleSince: NIODeadline
        /// True after the connection was asked to close.
        var isLeaving = false
    }

    /// The decision about a new connection: whether it is admitted, and which other connections are closed in its
    /// favor.
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

    /// Adds a connection. The connection is refused, and not counted, if its address has the maximum number of
    /// connections and none of them can be closed.
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
                // The number stays one below the maximum, so that the next connection is at least accepted.
                if staying >= limits.connections, let other = Self.dismissIdlest(&state, before: now) {
                    admission.leaving.append(other)
                }
            }
            state.channels[ObjectIdentifier(channel)] = Entry(channel: channel, address: address, idleSince: now)
            return admission
        }
    }

    /// Chooses the connection that has been idle for longest, for the caller to close it.
    ///
    /// - Returns: The connection, which is marked as leaving; `nil` if none has been idle since `limit`.
    private static func dismissIdlest(
        _ state: inout State, of address: String? = nil, before limit: NIODeadline
    ) -> (any Channel)? {
        var idlest: (key: ObjectIdentifier, since: NIODeadline)?
        for (key, entry) in state.channels where !entry.isLeaving && (address == nil || entry.address == address) {
            let since = entry.idleSince
            guard entry.requests == 0, since <= limit, since < idlest?.since ?? .distantFuture else { continue }
            idlest = (key, since)
        }
        guard let idlest else { return nil }
        state.channels[idlest.key]?.isLeaving = true
        return state.channels[idlest.key]?.channel
    }

    /// Records that the connection has one more request.
    func busy(_ channel: any Channel) {
        self.state.withLock { $0.channels[ObjectIdentifier(channel)]?.requests += 1 }
    }

    /// Records that a request of the connection has its reply, or that its HTTP/2 stream has ended.
    func idle(_ channel: any Channel) {
        let now = NIODeadline.now()
        self.state.withLock {
            $0.channels[ObjectIdentifier(channel)]?.requests -= 1
            $0.channels[ObjectIdentifier(channel)]?.idleSince = now
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

    /// Records that the unsent bytes of a connection have changed by `difference`.
    ///
    /// - Returns: The unsent bytes of all connections together.
    func unsentChanged(by difference: Int) -> Int {
        self.state.withLock { state in
            state.unsent += difference
            return state.unsent
        }
    }

    /// Counts one more reply with a piece of a file in memory; returns false if there are too many.
    func takeFilePiece(limit: Int) -> Bool {
        self.state.withLock { state in
            guard state.files < limit else { return false }
            state.files += 1
            return true
        }
    }

    func giveFilePieceBack() { self.state.withLock { $0.files -= 1 } }

    package func closeAll() {
        // Closed outside the lock: closing calls `closed(…)`, on the connection's own loop or at once.
        for channel in self.state.withLock({ $0.channels.values.map(\.channel) }) { channel.close(promise: nil) }
    }
}
