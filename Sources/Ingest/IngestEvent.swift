package import PublishAuth
package import MediaTypes

/// An event that the ingest reports to the room. Never carries a stream key.
package enum IngestEvent: Sendable, Hashable {
    /// The server is bound to this address, `HOST:PORT`.
    case listening(address: String)
    /// The server is bound to this address for RTMPS as well, `HOST:PORT`.
    case listeningSecurely(address: String)
    /// The server is bound to this UDP address for SRT as well, `HOST:PORT`.
    case listeningForSRT(address: String)
    /// The server accepts WHIP requests at this URL.
    case listeningForWHIP(url: String)
    /// A client opened a connection; `remote` is its `IP:PORT`.
    case connected(remote: String)
    /// A publisher was accepted.
    case publishing(SourceID, PublisherInfo)
    /// The format of a track, at its start and at every change.
    case configuration(SourceID, CodecParameters)
    /// The first video packet of a publication has arrived; ``firstAudio(_:)`` reports the first audio packet.
    case firstVideo(SourceID)
    case firstAudio(SourceID)
    /// A track uses a codec that is not supported. If it is video, or no track is supported, the publication ends after
    /// ``IngestConfiguration/unsupportedCodecTimeout``; otherwise the other tracks continue.
    case unsupportedCodec(SourceID, codec: String)
    /// A data message from the publisher for players: the name of the message and an array of values, as JSON text.
    case data(SourceID, name: String, values: String)
    /// The publisher ended its publication.
    case unpublished(SourceID, reason: String)
    /// The publication ended without an unpublish: network, timeout, protocol error, disconnected by the server, or a WebRTC
    /// publisher that sends nothing for some time.
    case lost(SourceID, reason: String)
    /// A pull source connects to its server; `url` without stream key.
    case pulling(SourceID, url: String)
    /// A pull source could not reach its server, was refused, or the stream ended. The next attempt follows after
    /// `retryMs` milliseconds.
    case pullFailed(SourceID, reason: String, retryMs: Int)
    /// A newer connection with the same key takes the source over; ``publishing(_:_:)`` follows.
    case takenOver(SourceID)
    /// The publish webhook could not be reached, did not answer in time, or gave no decision, such as a 5xx status.
    /// `isAllowed`: the publisher is accepted anyway, as `onError` says.
    case hookFailed(SourceID, reason: String, isAllowed: Bool)
    /// Two encoders keep taking a source over from each other; the last takeover was refused.
    case flapping(SourceID, remote: String)
    /// A single-use stream key was used, or was given back unused. Only the hash of the key is reported.
    case keyUsed(Admission.KeyUse)
    /// A publisher was refused, or a connection ended before it published. `code` is nil if the connection was closed without
    /// an error.
    case refused(remote: String, key: RedactedKey?, reason: String, code: ErrorCode?)
}
