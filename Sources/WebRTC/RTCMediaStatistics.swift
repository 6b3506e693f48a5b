package import MediaTypes

/// Counters and measurements of one peer's media. Counters begin with the session.
package struct RTCMediaStatistics: Sendable, Hashable {
    /// Statistics of each track, in the order of the negotiated tracks.
    package var tracks: [Track] = []
    /// Round-trip time in nanoseconds; nil while unknown.
    package var roundTrip: Int64?
    /// Bit rate that the peer is allowed by REMB, in bits per second; nil if it does not expect REMB.
    package var estimate: Int?
    /// Transport-wide feedback messages sent.
    package var feedbackMessages: UInt64 = 0
    /// Packets that are no RTP.
    package var malformed: UInt64 = 0
    /// RTCP datagrams that could not be read.
    package var malformedRTCP: UInt64 = 0
    /// Packets with a payload type that was not negotiated.
    package var unknownPayloadType: UInt64 = 0
    /// Packets whose SSRC belongs to no stream, or to one with another payload type; see ``StreamTable/Match/refused``.
    package var refusedSource: UInt64 = 0
    /// Times that the RTP times of a stream jumped, or stalled for more than a second.
    package var timeJumps = 0

    package init() {}

    /// One track; with simulcast, the sums of all layers, except where the current one is named.
    package struct Track: Sendable, Hashable {
        package var kind: TrackKind
        /// Packets that arrived, retransmissions and probes included.
        package var packets: UInt64 = 0
        /// Bytes of the packets that arrived, retransmissions and probes included.
        package var bytes: UInt64 = 0
        /// Bit rate of the current layer over the last second, in bits per second.
        package var bitRate = 0
        /// Share of packets of the current layer that the network lost in the last report interval, 0…1, including those
        /// that were received later by retransmission.
        package var fractionLost = 0.0
        /// Packets that were sent according to their sequence numbers, without retransmissions; of the current SSRCs.
        package var expected: Int64 = 0
        /// Packets of the current SSRCs that the network lost, before retransmission.
        package var networkLost: Int64 = 0
        /// Interarrival jitter of the current layer in nanoseconds.
        package var jitter: Int64 = 0
        /// What happened to the packets of layers in use.
        package var ordering = ReceiveTrack.Counters()
        /// NACK messages sent.
        package var nacks: UInt64 = 0
        /// PLI and FIR messages sent.
        package var keyFrameRequests: UInt64 = 0
        /// False if the sender seems to ignore requests for key frames, or offered neither PLI nor FIR.
        package var answersKeyFrameRequests = false
        /// How far sender reports have moved the current layer's times so far, in nanoseconds; positive: later.
        package var corrected: Int64 = 0
        /// Layer that is given out; nil before the first key frame, 0 without simulcast.
        package var layer: Int?

        package init(_ kind: TrackKind) { self.kind = kind }
    }
}
