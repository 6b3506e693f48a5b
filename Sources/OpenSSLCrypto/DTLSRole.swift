/// Who begins the handshake.
///
/// Spec: RFC 8842 §5. A peer that answers `a=setup:active` is the client.
package enum DTLSRole: Sendable, Hashable {
    /// Sends the first message.
    case client
    /// Waits for the client's first message.
    case server
}
