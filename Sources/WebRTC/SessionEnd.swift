/// Why a session has ended.
package enum SessionEnd: Sendable, Equatable {
    /// No valid check came in time.
    case neverChecked
    /// No valid check for 30 s.
    case consentLost
    case handshakeTimedOut
    case handshakeFailed(String)
    /// The peer has sent close_notify.
    case closedByPeer
    /// Publishers only: nothing arrived after the handshake.
    case noMedia
    /// Publishers only: no media for some time.
    case idle
    /// This side has closed the session.
    case closed

    package var text: String {
        switch self {
        case .neverChecked: "no valid connectivity check arrived at the UDP or TCP port in time"
        case .consentLost: "no valid connectivity check arrived for 30 s"
        case .handshakeTimedOut: "the DTLS handshake took too long"
        case .handshakeFailed(let reason): reason
        case .closedByPeer: "closed by the client"
        case .noMedia: "no media arrived after the handshake"
        case .idle: "no media received"
        case .closed: "closed"
        }
    }
}
