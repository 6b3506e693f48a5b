package import Egress
package import MediaTypes
import NIOCore
import NIOPosix
import Synchronization

/// The relays of a room; each one sends one source to one other room.
///
/// Any thread may call. Runs one event-loop thread of its own, so that a slow remote server affects no publisher. Life
/// cycle: calls, then ``stop()`` once.
package final class RelayService: Sendable {
    /// Maximum number of relays per source.
    package static let maximumPerSource = 4

    private struct State {
        var relays: [SourceID: [String: Relay]] = [:]
        var isStopped = false
    }

    private let egress: EgressGate?
    private let clock: any MonotonicClock
    private let emit: @Sendable (SourceID, RelayStatus, RelayEvent) -> Void
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let state = Mutex(State())

    /// Creates the service without relays, and starts its thread.
    ///
    /// - Parameters:
    ///   - egress: Checks whether the address of another room is allowed; `nil`: any address is.
    ///   - events: Called on the relays' thread with each event; must not block. Its status holds only the relay's id and
    ///     URL.
    package init(
        egress: EgressGate? = nil, clock: any MonotonicClock,
        events: @escaping @Sendable (SourceID, RelayStatus, RelayEvent) -> Void
    ) {
        self.egress = egress
        self.clock = clock
        self.emit = events
    }

    /// Relays the source of `hub` to `url` under the id `id`. If the relay exists with the same URL, nothing changes;
    /// with another URL, it is replaced.
    ///
    /// - Returns: The relay's status; nil if the source has ``maximumPerSource`` relays already, or the room has ended.
    @discardableResult
    package func put(_ hub: SourceHub, id: String, url: RTMPURL) -> RelayStatus? {
        self.state.withLock { state -> RelayStatus? in
            if state.isStopped { return nil }
            let present = state.relays[hub.source, default: [:]]
            let older = present[id]
            if let older, older.url == url { return older.status }
            guard older != nil || present.count < RelayService.maximumPerSource else { return nil }
            let status = RelayStatus(relayID: id, url: url.redacted)
            let relay = Relay(
                id: id, url: url, hub: hub, egress: self.egress, clock: self.clock, loop: self.group.next(),
                events: { [emit] in emit(hub.source, status, $0) })
            state.relays[hub.source, default: [:]][id] = relay
            // Under the lock, because ``stop()`` ends the thread that the old relay stops on.
            older?.stop(reason: "replaced")
            return relay.status
        }
    }

    /// Ends a relay.
    ///
    /// - Returns: False if there is no relay with this id.
    package func remove(_ source: SourceID, id: String) -> Bool {
        self.state.withLock { state in
            let relay = state.relays[source]?.removeValue(forKey: id)
            relay?.stop(reason: "removed")
            return relay != nil
        }
    }

    /// Ends every relay of a source.
    package func removeAll(of source: SourceID) {
        self.state.withLock { state in
            let relays = state.relays.removeValue(forKey: source) ?? [:]
            for relay in relays.values { relay.stop(reason: "the source was removed") }
        }
    }

    /// Returns the status of each relay of a source, sorted by id.
    package func relays(of source: SourceID) -> [RelayStatus] {
        let relays = self.state.withLock { Array(($0.relays[source] ?? [:]).values) }
        return relays.map(\.status).sorted { $0.relayID < $1.relayID }
    }

    /// Closes every relay and ends the thread.
    package func stop() async {
        let (relays, wasStopped) = self.state.withLock { state in
            defer {
                state.isStopped = true
                state.relays = [:]
            }
            return (state.relays.values.flatMap(\.values), state.isStopped)
        }
        if wasStopped { return }
        for relay in relays { relay.stop(reason: "the room has ended") }
        // Waits until the relays have closed their connections. An error leaves nothing to do.
        try? await self.group.next().submit {}.get()
        try? await self.group.shutdownGracefully()
    }
}
