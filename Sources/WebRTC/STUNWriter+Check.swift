extension STUNWriter {
    /// A connectivity check of the controlled side, as proof that a peer receives what is sent to one of its addresses. Peers
    /// with full ICE answer it.
    ///
    /// Spec: RFC 8445 §7.1, RFC 7675 §5.1.
    ///
    /// - Parameters:
    ///   - transactionID: 12 bytes of a cryptographic generator, so that only a receiver of the check can know them.
    ///   - remote: Credentials of the peer.
    package static func check(
        transactionID: [UInt8], remote: ICECredentials, localUfrag: String, hmac: STUNMessage.HMAC
    ) -> [UInt8] {
        var writer = STUNWriter(.request, transactionID: transactionID)
        writer.add(AttributeType.username, Array("\(remote.ufrag):\(localUfrag)".utf8))
        // The tie-breaker has no effect, since the peer is in the controlling role.
        writer.add(AttributeType.controlled, [UInt8](repeating: 0, count: 8))
        // A peer-reflexive candidate (RFC 8445 §5.1.2.1).
        writer.add(AttributeType.priority, [110, 0xFF, 0xFF, 0xFF])
        return writer.finished(password: Array(remote.password.utf8), hmac: hmac)
    }
}
