/// Settings of ``RTCPeerMedia`` that do not come from the offer's tracks.
package struct RTCPeerMediaSettings: Sendable, Hashable {
    /// SSRC of the receiver in its RTCP packets. Any number; best different from the publisher's.
    package var localSSRC: UInt32 = 1
    /// Canonical name in SDES; at most 255 bytes of it are sent.
    package var canonicalName = "tandem"
    /// How long a missing packet is waited for if the sender resends packets, in nanoseconds; nil: the default of
    /// ``ReceiveTrack/Timing``.
    package var wait: Int64?
    /// Start of the bandwidth estimate for senders that expect REMB, in bits per second.
    package var startBitRate = 2_000_000
    /// Highest bit rate that such a sender is allowed, in bits per second.
    package var highestBitRate = 20_000_000
    /// Whether feedback may be sent without a report before it (RFC 5506, `a=rtcp-rsize`).
    package var hasReducedSize = true
    /// Whether the peer's program is known to ignore requests for key frames.
    package var ignoresKeyFrameRequests = false

    package init() {}

    /// Whether a publisher's program is known to ignore requests for key frames.
    ///
    /// - Parameter software: What its offer or its `User-Agent` says about it. Pages in OBS's own browser are not meant: their
    ///   `User-Agent` has `OBS/`, that of OBS's WHIP output `OBS-Studio/`.
    package static func ignoresKeyFrameRequests(software: String?) -> Bool {
        guard let name = software?.lowercased() else { return false }
        return ["obs-studio", "libdatachannel", "lavf", "ffmpeg"].contains { name.contains($0) }
    }
}

/// An ordered packet of one of a peer's tracks.
package struct TrackPacket: Sendable, Hashable {
    /// Index of the packet's track among the negotiated tracks.
    package let track: Int
    /// Simulcast layer as an index of the track's `rids`; 0 without simulcast. The first packet of another layer begins
    /// a key frame and has ``OrderedPacket/isAfterLoss``; layers number their packets independently.
    package let layer: Int
    package let packet: OrderedPacket
    /// Time of the packet's frame in nanoseconds, on one line for all tracks of the peer (``SenderClock``).
    package let time: Int64
}

/// What ``RTCPeerMedia`` did with an RTP packet.
package enum RTPVerdict: Sendable, Hashable {
    /// The packet belongs to a track. It may still wait for others, or may have been dropped.
    case taken
    /// The bytes are no RTP packet.
    case malformed
    /// No negotiated track has the packet's payload type.
    case unknownPayloadType
    /// The packet's SSRC belongs to no stream, or to one with another payload type; see ``StreamTable/Match/refused``.
    case refusedSource
}
