package import WebRTC

/// Measurements of a WebRTC publisher, in the current or last publication.
package struct WebRTCStatistics: Sendable, Hashable {
    /// Protection profile of SRTP, such as `AEAD_AES_128_GCM`; nil before the end of the handshake.
    package var cipher: String?
    /// Loss, jitter, retransmissions and round-trip time.
    package var media = RTCMediaStatistics()
    /// Frames that could not be given out because packets of them or of an earlier frame are missing.
    package var damagedFrames: UInt64 = 0
    /// Packets of media that were dropped because the room was full.
    package var dropped: UInt64 = 0
    /// Datagrams that were refused: not authentic, repeated, malformed, or from an address without a valid check.
    package var refused: UInt64 = 0

    package init() {}

    init(_ session: WebRTCSession, dropped: UInt64, now: Int64) {
        let (media, assemblies) = session.statistics(now: now)
        self.cipher = session.cipher
        self.media = media
        self.damagedFrames = assemblies.reduce(0) { $0 + $1.lost + $1.dropped + $1.malformed + $1.tooLarge }
        self.dropped = dropped
        let counters = session.counters
        self.refused =
            counters.strangers + counters.badChecks + counters.forged + counters.replayed + counters.malformed
            + counters.tooManySources
    }
}
