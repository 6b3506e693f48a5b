/// One packet of an RTCP compound packet.
///
/// Spec: RFC 3550 §6, RFC 3611, RFC 4585 §6, RFC 5104 §4.3.1, draft-alvestrand-rmcat-remb-03.
package enum RTCPPacket: Sendable, Hashable {
    case senderReport(RTCPSenderReport, blocks: [RTCPReportBlock])
    case receiverReport(ssrc: UInt32, blocks: [RTCPReportBlock])
    /// Only canonical names are kept, at most 32 of at most 255 bytes each.
    case sourceDescription([RTCPSourceName])
    case goodbye(ssrcs: [UInt32])
    /// An APP packet; its data is not kept.
    case application(ssrc: UInt32, name: UInt32)
    /// Sequence numbers that are missing (RFC 4585 §6.2.1).
    case nack(sender: UInt32, media: UInt32, lost: [UInt16])
    /// PLI: a request for a key frame (RFC 4585 §6.3.1).
    case pictureLoss(sender: UInt32, media: UInt32)
    case fullIntraRequest(sender: UInt32, media: UInt32, number: UInt8)
    /// The highest bit rate that a receiver wants, in bits per second.
    case remb(sender: UInt32, bitRate: UInt64, ssrcs: [UInt32])
    case transportFeedback(RTCPTransportFeedback)
    /// Answers to receiver reference times (RFC 3611 §4.5).
    case delaySinceReferenceTime([RTCPDelayBlock])
    /// Receiver reference time (RFC 3611 §4.4), as an NTP time stamp.
    case referenceTime(ssrc: UInt32, ntp: UInt64)
    /// A packet of another type or format, or with a body that is too short. It is ignored (RFC 3550 §6.1).
    case other(type: UInt8, format: UInt8)
}

/// Sender information of an SR (RFC 3550 §6.4.1).
package struct RTCPSenderReport: Sendable, Hashable {
    package var ssrc: UInt32
    /// NTP time stamp of the sender's clock: seconds since 1900 in units of 2⁻³² s.
    package var ntp: UInt64
    /// RTP time of this SSRC at the instant of ``ntp``.
    package var timestamp: UInt32
    package var packets: UInt32
    package var octets: UInt32

    package init(ssrc: UInt32, ntp: UInt64, timestamp: UInt32, packets: UInt32 = 0, octets: UInt32 = 0) {
        self.ssrc = ssrc
        self.ntp = ntp
        self.timestamp = timestamp
        self.packets = packets
        self.octets = octets
    }
}

/// Reception report block (RFC 3550 §6.4.1).
package struct RTCPReportBlock: Sendable, Hashable {
    package var ssrc: UInt32
    /// Share of the packets since the previous report that were lost, in units of 1/256.
    package var fractionLost: UInt8
    /// Packets lost since the beginning of reception, −2²³…2²³ − 1; negative if there are more duplicates.
    package var cumulativeLost: Int32
    package var highestSequence: UInt32
    /// Interarrival jitter in units of the RTP clock.
    package var jitter: UInt32
    /// Middle 32 bits of the NTP time stamp of the last SR; 0: none so far.
    package var lastSenderReport: UInt32
    /// Time since the last SR arrived, in units of 1/65,536 s.
    package var delaySinceLastSenderReport: UInt32

    package init(
        ssrc: UInt32, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, highestSequence: UInt32 = 0,
        jitter: UInt32 = 0, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.highestSequence = highestSequence
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }
}

/// The canonical name of a source (RFC 3550 §6.5.1).
package struct RTCPSourceName: Sendable, Hashable {
    package var ssrc: UInt32
    package var name: [UInt8]

    package init(ssrc: UInt32, name: [UInt8]) {
        self.ssrc = ssrc
        self.name = name
    }
}

/// One sub-block of a DLRR report (RFC 3611 §4.5).
package struct RTCPDelayBlock: Sendable, Hashable {
    package var ssrc: UInt32
    /// Middle 32 bits of the reference time; 0: none so far.
    package var lastReference: UInt32
    /// Time since the reference time arrived, in units of 1/65,536 s.
    package var delay: UInt32

    package init(ssrc: UInt32, lastReference: UInt32, delay: UInt32) {
        self.ssrc = ssrc
        self.lastReference = lastReference
        self.delay = delay
    }
}

/// What a transport-wide feedback message reports.
package struct RTCPTransportFeedback: Sendable, Hashable {
    package var sender: UInt32
    package var media: UInt32
    /// Transport-wide number of the first reported packet.
    package var base: UInt16
    /// Number of this message among the sender's feedback messages, modulo 256.
    package var number: UInt8
    /// For each packet from ``base`` on, its arrival in units of 250 µs of the receiver's clock, which wraps; nil if it did
    /// not arrive.
    package var arrivals: [Int64?]

    package init(sender: UInt32, media: UInt32, base: UInt16, number: UInt8, arrivals: [Int64?]) {
        self.sender = sender
        self.media = media
        self.base = base
        self.number = number
        self.arrivals = arrivals
    }
}
