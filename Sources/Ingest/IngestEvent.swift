package import Admission
package import MediaTypes

/// What the ingest tells the room. Never carries a stream key.
package enum IngestEvent: Sendable, Hashable {
    /// The server is bound to this address, `HOST:PORT`.
    case listening(address: String)
    /// The server is bound to this address for RTMPS as well, `HOST:PORT`.
    case listeningSecurely(address: String)
    /// The server is bound to this UDP address for SRT as well, `HOST:PORT`.
    case listeningForSRT(address: String)
    /// Someone opened a connection.
    case connected(remote: String)
    /// A publisher was let in.
    case publishing(SourceID, PublisherInfo)
    /// A track is coded like this from here on.
    case configuration(SourceID, CodecParameters)
    /// The first packet of this publication's video, and the first of its audio.
    case firstVideo(SourceID)
    case firstAudio(SourceID)
    /// A track is in a codec that is not supported; the others go on.
    case unsupportedCodec(SourceID, codec: String)
    /// The publisher says something to players: the name of its message and an array of values, as JSON text.
    case data(SourceID, name: String, values: String)
    /// The publisher has taken leave.
    case unpublished(SourceID, reason: String)
    /// The publisher is gone without leave: network, timeout, protocol fault, or sent away.
    case lost(SourceID, reason: String)
    /// A source that is fetched connects to its server; `url` without stream key.
    case pulling(SourceID, url: String)
    /// The server could not be reached, refused, or ended the stream; it is tried again after so many milliseconds.
    case pullFailed(SourceID, reason: String, retryMs: Int)
    /// A newer connection with its key takes the source over; ``publishing(_:_:)`` follows.
    case takenOver(SourceID)
    /// The webhook that decides on publishers gave no answer; `isAllowed`: the publisher was let in all the same.
    case hookFailed(SourceID, reason: String, isAllowed: Bool)
    /// Encoders fight for a source: one that would have taken it over was refused.
    case flapping(SourceID, remote: String)
    /// A stream key that is good for one publication was used, or was not used after all. Only its hash is told.
    case keyUsed(Admission.KeyUse)
    /// A publisher was turned away, or a connection ended before it published; `code` is `nil` where that was nobody's mistake.
    case refused(remote: String, key: RedactedKey?, reason: String, code: ErrorCode?)
}
