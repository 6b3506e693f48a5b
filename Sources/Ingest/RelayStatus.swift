import MediaTypes

/// What is known of one relay.
package struct RelayStatus: Sendable, Hashable {
    package enum State: String, Sendable {
        /// The source sends nothing; there is no connection.
        case waiting
        case connecting
        /// The far side takes the source's packets.
        case live
        /// Between two attempts.
        case failed
    }

    package let relayID: String
    /// Without stream key; see ``RTMPURL/redacted``.
    package let url: String
    package var state = State.waiting
    /// Bytes sent, protocol included but for the handshake, over all connections.
    package var bytes: UInt64 = 0
    /// Packets that the far side was too slow for.
    package var dropped = 0
    /// Attempts after the first.
    package var retries = 0
    /// Why the last connection ended or failed; nil when none did.
    package var lastError: String?
}

/// What happens to a relay.
package enum RelayEvent: Sendable, Hashable {
    case connecting
    case live
    /// The connection failed or ended; it is tried again after so many milliseconds.
    case failed(reason: String, retryMs: Int)
    /// It was removed, or its source has ended.
    case stopped(reason: String)
}
