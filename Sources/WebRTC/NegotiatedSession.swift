/// What an offer and its answer agreed on: the tracks, and what is needed to authenticate the peer.
package struct NegotiatedSession: Sendable, Hashable {
    /// At most one video and one audio track, in the order of the offer.
    package var tracks: [NegotiatedTrack]
    /// The peer's ICE user name fragment, 4 to 256 characters.
    package var remoteUfrag: String
    /// The peer's ICE password, 22 to 256 characters. Secret.
    package var remotePassword: String
    /// Digests of the peer's certificate. The certificate must match one of them. Never empty.
    package var fingerprints: [SDPFingerprint]
    /// Whether the peer is the DTLS server, so that this program has to send the first message.
    package var peerIsDTLSServer: Bool
    /// The name of a publisher's software, as printable ASCII: at most 64 characters of its offer, or the `User-Agent` of its
    /// request (``nameSoftware(userAgent:)``). nil if neither has one, and for viewers.
    package var software: String?

    package init(
        tracks: [NegotiatedTrack], remoteUfrag: String, remotePassword: String, fingerprints: [SDPFingerprint],
        peerIsDTLSServer: Bool, software: String? = nil
    ) {
        self.tracks = tracks
        self.remoteUfrag = remoteUfrag
        self.remotePassword = remotePassword
        self.fingerprints = fingerprints
        self.peerIsDTLSServer = peerIsDTLSServer
        self.software = software
    }

    /// Takes the request's `User-Agent` as the name of the software, unless the offer has a name or the argument is empty.
    package mutating func nameSoftware(userAgent: String) {
        if self.software == nil, !userAgent.isEmpty { self.software = userAgent }
    }
}
