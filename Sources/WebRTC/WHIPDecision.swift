/// What to do with a WHIP request.
package enum WHIPDecision: Sendable, Hashable {
    /// The first segment of the path is not `whip`: not a WHIP request.
    case other
    /// Send this reply. It is complete, with its CORS fields.
    case reply(WHIPReply)
    /// Check the key, then answer the offer with ``SDPNegotiation`` and reply with
    /// ``WHIPRequests/created(path:etag:answer:origin:)`` or ``WHIPRequests/refused(_:origin:)``. `isKeyInHeader`: DELETE and
    /// PATCH of the session have to repeat the key.
    case publish(key: String, isKeyInHeader: Bool, offer: [UInt8])
    /// End the session, then reply with ``WHIPRequests/deleted(origin:)``.
    case delete(id: String)
    /// Begin an ICE restart, then reply with ``WHIPRequests/restarted(etag:fragment:origin:)``.
    case restart(id: String, remote: ICECredentials)
}

/// What decisions on requests for a WHIP session depend on.
package struct WHIPSessionState: Sendable, Hashable {
    /// The session's current entity tag, with its quotation marks.
    package var etag: String
    /// The publisher's current ICE user name fragment.
    package var remoteUfrag: String
    /// The key that DELETE and PATCH have to send; nil if the POST had it in its path. Secret.
    package var key: String?

    package init(etag: String, remoteUfrag: String, key: String?) {
        self.etag = etag
        self.remoteUfrag = remoteUfrag
        self.key = key
    }
}
