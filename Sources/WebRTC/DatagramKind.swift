/// What a datagram of a peer contains, by its first bytes.
///
/// Spec: RFC 7983 §7, RFC 5761 §4.
package enum DatagramKind: Sendable, Hashable {
    case stun, dtls, rtp, rtcp
    /// Anything else, including an empty datagram.
    case other

    package init(_ datagram: some Collection<UInt8>) {
        guard let first = datagram.first else {
            self = .other
            return
        }
        switch first {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 128...191:
            let second = datagram.dropFirst().first ?? 0
            self = (192...223).contains(second) ? .rtcp : .rtp
        default: self = .other
        }
    }
}
