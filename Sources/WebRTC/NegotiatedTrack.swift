package import MediaTypes

/// One media stream that a peer and this program agreed on.
package struct NegotiatedTrack: Sendable, Hashable {
    /// Identifies the track's section of the offer (RFC 5888); empty if the offer has one section without `mid`.
    package var mid: String
    package var kind: TrackKind
    package var codec: CodecName
    /// RTP payload type, 0 to 63 or 96 to 127.
    package var payloadType: UInt8
    /// Payload type of retransmissions (RFC 4588); nil if none was agreed on.
    package var rtxPayloadType: UInt8?
    /// Ticks per second of RTP timestamps: 90,000 for video, 48,000 for Opus.
    package var clockRate: Int
    /// Format parameters as offered, names in lower case, such as `profile-level-id`.
    package var fmtp: [String: String]
    /// Whether the sender resends packets that a generic NACK names (RFC 4585 §6.2.1).
    package var hasNACK: Bool
    package var hasPLI: Bool
    package var hasFIR: Bool
    /// Whether the publisher expects transport-wide feedback; ``transportCCExtension`` is then not nil.
    package var hasTransportCC: Bool
    /// Whether the sender expects REMB; never together with ``hasTransportCC``.
    package var hasREMB: Bool
    /// Id of the RTP header extension with transport-wide sequence numbers, 1 to 14 or 16 to 255 (RFC 8285); nil if it was not
    /// offered or is not used. The ids of the other extensions are alike.
    package var transportCCExtension: UInt8?
    /// Id of the RTP header extension for coordination of video orientation (3GPP TS 26.114 §6.2.3); nil if it is not used.
    package var orientationExtension: UInt8?
    package var midExtension: UInt8?
    package var ridExtension: UInt8?
    package var repairedRidExtension: UInt8?
    /// Simulcast layers in the order of the offer (RFC 8853); empty without simulcast.
    package var rids: [String]
    /// Synchronization sources that the offer announces (RFC 5576), in order and without repetition; at most 16.
    package var ssrcs: [UInt32]

    package init(
        mid: String, kind: TrackKind, codec: CodecName, payloadType: UInt8, rtxPayloadType: UInt8? = nil,
        clockRate: Int, fmtp: [String: String] = [:], hasNACK: Bool = false, hasPLI: Bool = false,
        hasFIR: Bool = false, hasTransportCC: Bool = false, hasREMB: Bool = false,
        transportCCExtension: UInt8? = nil, orientationExtension: UInt8? = nil, midExtension: UInt8? = nil,
        ridExtension: UInt8? = nil, repairedRidExtension: UInt8? = nil, rids: [String] = [], ssrcs: [UInt32] = []
    ) {
        self.mid = mid
        self.kind = kind
        self.codec = codec
        self.payloadType = payloadType
        self.rtxPayloadType = rtxPayloadType
        self.clockRate = clockRate
        self.fmtp = fmtp
        self.hasNACK = hasNACK
        self.hasPLI = hasPLI
        self.hasFIR = hasFIR
        self.hasTransportCC = hasTransportCC
        self.hasREMB = hasREMB
        self.transportCCExtension = transportCCExtension
        self.orientationExtension = orientationExtension
        self.midExtension = midExtension
        self.ridExtension = ridExtension
        self.repairedRidExtension = repairedRidExtension
        self.rids = rids
        self.ssrcs = ssrcs
    }
}
