/// The state and the counters of one relay.
package struct RelayStatus: Sendable, Hashable {
    package enum State: String, Sendable, CaseIterable {
        /// Not connected: the source sends nothing, or the last connection is too recent.
        case waiting
        case connecting
        /// The remote server takes the source's packets.
        case live
        /// The connection attempt has failed, or the connection has ended; the next attempt follows after the back-off, if the
        /// source still sends.
        case failed
    }

    package let relayID: String
    /// URL of the remote room, without the stream key; see ``RTMPURL/redacted``.
    package let url: String
    package var state = State.waiting
    /// Bytes of media written to all connections, with chunk headers, but without handshakes and metadata.
    package var bytes: UInt64 = 0
    /// Number of packets dropped because the remote server was too slow, or while a key frame was awaited.
    package var dropped = 0
    /// Number of connection attempts that were made at the end of the back-off after a failed connection.
    package var retries = 0
    /// Why a connection last failed; nil if none has. Kept when the relay connects again.
    package var lastError: String?
}

/// An event of a relay.
package enum RelayEvent: Sendable, Hashable {
    case connecting
    case live
    /// The connection failed or ended. The next attempt follows after `retryMs` milliseconds, if the source still sends.
    case failed(reason: String, retryMs: Int)
    /// The relay was removed or replaced, its source has ended, or the room has.
    case stopped(reason: String)
}
