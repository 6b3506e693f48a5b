/// Attributes of the transport: in a section, or at the session level.
extension MediaOffer {
    static func credentials(
        _ section: [SessionDescription.Attribute], _ session: [SessionDescription.Attribute]
    ) throws(WHIPError) -> ICECredentials {
        guard let ufrag = section.first(named: "ice-ufrag") ?? session.first(named: "ice-ufrag"),
            let password = section.first(named: "ice-pwd") ?? session.first(named: "ice-pwd")
        else {
            throw .unacceptable("the offer has no ICE credentials", fix: "offer ice-ufrag and ice-pwd")
        }
        guard ICECredentials.isUfrag(ufrag), ICECredentials.isPassword(password) else {
            throw .malformed("ice-ufrag or ice-pwd has a wrong length or character")
        }
        return ICECredentials(ufrag: String(ufrag), password: String(password))
    }

    /// The accepted fingerprints, at most 8. Those of a section replace those of the session level.
    static func fingerprints(
        _ section: [SessionDescription.Attribute], _ session: [SessionDescription.Attribute]
    ) throws(WHIPError) -> [SDPFingerprint] {
        let own = section.all(named: "fingerprint")
        let values = own.isEmpty ? session.all(named: "fingerprint") : own
        guard !values.isEmpty else {
            throw .unacceptable(
                "the offer has no fingerprint of a certificate", fix: "offer DTLS-SRTP with a sha-256 fingerprint")
        }
        var found: [SDPFingerprint] = []
        for value in values {
            guard let fingerprint = SDPFingerprint(value) else { throw .malformed("a fingerprint is malformed") }
            if fingerprint.isAccepted, !found.contains(fingerprint), found.count < 8 { found.append(fingerprint) }
        }
        guard !found.isEmpty else {
            throw .unacceptable(
                "none of the offer's fingerprints is sha-256, sha-384 or sha-512", fix: "offer a sha-256 fingerprint")
        }
        return found
    }

    /// Whether the offerer is the DTLS server, so that this side has to send the first DTLS message.
    ///
    /// Spec: RFC 5763 §5, RFC 4145 §4. Without the attribute the offerer is active.
    static func isServer(
        _ section: [SessionDescription.Attribute], _ session: [SessionDescription.Attribute]
    ) throws(WHIPError) -> Bool {
        switch section.first(named: "setup") ?? session.first(named: "setup") ?? "active" {
        case "actpass", "active": return false
        case "passive": return true
        case let other:
            throw .unacceptable("setup:\(other.visible(16)) is not accepted", fix: "offer setup:actpass")
        }
    }
}
