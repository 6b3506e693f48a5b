/// The state and the counters of one relay.
package struct RelayStatus: Sendable, Hashable {
    package enum State: String, Sendable, CaseIterable {
        /// The source sends nothing; the relay is not connected.
        case waiting
        case connecting
        /// The remote server takes the source's packets.
        case live
        /// The connection failed; the next attempt follows after the back-off.
        case failed
    }

    package let relayID: String
    /// URL of the remote room, without the stream key; see ``RTMPURL/redacted``.
    package let url: String
    package var state = State.waiting
    /// Bytes sent over all connections, including protocol overhead but not the handshakes.
    package var bytes: UInt64 = 0
    /// Number of packets dropped because the remote server was too slow.
    package var dropped = 0
    /// Number of connection attempts after the first one.
    package var retries = 0
    /// Why the last connection ended or failed; nil if none has.
    package var lastError: String?
}

/// An event of a relay.
package enum RelayEvent: Sendable, Hashable {
    case connecting
    case live
    /// The connection failed or ended. The next attempt follows after `retryMs` milliseconds.
    case failed(reason: String, retryMs: Int)
    /// The relay was removed, or its source has ended.
    case stopped(reason: String)
}
