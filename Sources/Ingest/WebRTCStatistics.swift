package import WebRTC

/// Measurements of the session of a source's current or last WebRTC publisher.
package struct WebRTCStatistics: Sendable, Hashable {
    /// Protection profile of SRTP, such as `AEAD_AES_128_GCM`; nil before the end of the handshake.
    package var cipher: String?
    /// `udp` or `tcp`; nil before the end of the handshake.
    package var transport: String?
    /// Loss, jitter, retransmissions and round-trip time.
    package var media = RTCMediaStatistics()
    /// How often packets were missing, plus the frames and audio packets that are malformed or too large, plus the complete
    /// frames that were dropped while waiting for a key frame.
    package var damagedFrames: UInt64 = 0
    /// The part of ``damagedFrames`` that is video.
    package var damagedVideoFrames: UInt64 = 0
    /// Frames and audio packets that were dropped because a subscriber was full, or while waiting for a key frame.
    package var dropped: UInt64 = 0
    /// Datagrams that were refused: connectivity checks without an answer, and others that are not authentic, repeated,
    /// malformed, from an address without a valid check, or of too many senders.
    package var refused: UInt64 = 0

    package init() {}

    init(_ session: WebRTCSession, dropped: UInt64, now: Int64) {
        let (media, assemblies) = session.statistics(now: now)
        self.cipher = session.cipher
        self.transport = session.transportName
        self.media = media
        for (track, counters) in zip(media.tracks, assemblies) {
            let damaged = counters.lost + counters.dropped + counters.malformed + counters.tooLarge
            self.damagedFrames += damaged
            if track.kind == .video { self.damagedVideoFrames += damaged }
        }
        self.dropped = dropped
        let counters = session.counters
        self.refused =
            counters.strangers + counters.badChecks + counters.forged + counters.replayed + counters.malformed
            + counters.tooManySources
    }
}

/// Values over all tracks. Counters begin with the session; ``expected`` and ``networkLost`` fall if a sender continues with
/// another SSRC.
extension WebRTCStatistics {
    /// Packets that were sent according to their sequence numbers, without retransmissions.
    package var expected: Int64 { self.media.tracks.reduce(0) { $0 &+ $1.expected } }
    /// Packets that the network lost, including those that were received later by retransmission.
    package var networkLost: Int64 { self.media.tracks.reduce(0) { $0 &+ $1.networkLost } }
    /// Missing packets that arrived after a request.
    package var recovered: Int64 { self.sum(\.ordering.recovered) }
    /// Missing packets that were given up.
    package var abandoned: Int64 { self.sum(\.ordering.lost) }
    /// NACK messages sent.
    package var nacks: Int64 { self.sum(\.nacks) }
    /// PLI and FIR messages sent.
    package var keyFrameRequests: Int64 { self.sum(\.keyFrameRequests) }
    /// Interarrival jitter of the track with the most, in nanoseconds.
    package var jitter: Int64 { self.media.tracks.map(\.jitter).max() ?? 0 }
    /// Share of packets that the network lost in the last report interval, of the track with the most; 0…1.
    package var fractionLost: Double { self.media.tracks.map(\.fractionLost).max() ?? 0 }

    private func sum(_ value: (RTCMediaStatistics.Track) -> UInt64) -> Int64 {
        Int64(clamping: self.media.tracks.reduce(UInt64(0)) { $0 &+ value($1) })
    }
}
