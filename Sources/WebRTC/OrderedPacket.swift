/// One RTP packet of a track in the order in which its sender numbered them.
///
/// Sequence numbers only increase, but they are not consecutive: packets without payload (bandwidth probes) are left
/// out. Only ``isAfterLoss`` tells whether something is missing.
package struct OrderedPacket: Sendable, Hashable {
    /// Extended sequence number: the 16 bits of the packet and the number of wraps. Increases also if the sender
    /// restarts with another number.
    package let sequence: Int64
    /// RTP time in units of the track's clock rate. It wraps, and its beginning is random (RFC 3550 §5.1).
    package let timestamp: UInt32
    /// Marker bit: for video, the last packet of a frame.
    package let marker: Bool
    /// Payload without header, extensions and padding; never empty. A slice of the received datagram, not a copy.
    package let payload: ArraySlice<UInt8>
    /// The byte of the `urn:3gpp:video-orientation` extension, if the packet has one (3GPP TS 26.114 §7.4.5).
    package let orientation: UInt8?
    /// When the packet arrived, in nanoseconds of the receiver's monotonic clock. A retransmission has its own arrival.
    package let arrival: Int64
    /// Whether packets before this one are missing and will not be given out later. The first packet of a track and
    /// that of a restarted sender have it, too: nothing before it can be used.
    package let isAfterLoss: Bool

    package init(
        sequence: Int64, timestamp: UInt32, marker: Bool, payload: ArraySlice<UInt8>, orientation: UInt8? = nil,
        arrival: Int64, isAfterLoss: Bool = false
    ) {
        self.sequence = sequence
        self.timestamp = timestamp
        self.marker = marker
        self.payload = payload
        self.orientation = orientation
        self.arrival = arrival
        self.isAfterLoss = isAfterLoss
    }
}
