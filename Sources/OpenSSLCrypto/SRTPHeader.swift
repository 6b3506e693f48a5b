/// The parts of RTP and RTCP headers that protection needs.
enum SRTPHeader {
    /// Size of the first header of an RTCP packet, which stays in clear.
    static let rtcpSize = 8
    /// Size of the word behind an RTCP packet: the flag E and 31 bits of index. Spec: RFC 3711 §3.4.
    static let wordSize = 4

    /// Size of a header with its contributing sources and extension.
    ///
    /// Spec: RFC 3550 §5.1, §5.3.1.
    ///
    /// - Parameter end: Where the payload ends; all of the header must be before it.
    /// - Returns: `nil` if it is not RTP, or shorter than its header says.
    static func rtpSize(_ packet: [UInt8], end: Int) -> Int? {
        guard end >= 12, end <= packet.count, packet[0] >> 6 == 2 else { return nil }
        var size = 12 + Int(packet[0] & 15) * 4
        if packet[0] & 0x10 != 0 {
            guard size + 4 <= end else { return nil }
            size += 4 + Int(Self.number16(packet, at: size + 2)) * 4
        }
        return size <= end ? size : nil
    }

    /// Whether a packet begins as RTCP and is long enough for its first header.
    static func isRTCP(_ packet: [UInt8], end: Int) -> Bool {
        end >= self.rtcpSize && end <= packet.count && packet[0] >> 6 == 2
    }

    /// A number of 16 bits in network order. The caller has checked that it is within the packet.
    static func number16(_ packet: [UInt8], at offset: Int) -> UInt16 {
        UInt16(packet[offset]) << 8 | UInt16(packet[offset + 1])
    }

    /// A number of 32 bits in network order. The caller has checked that it is within the packet.
    static func number32(_ packet: [UInt8], at offset: Int) -> UInt32 {
        UInt32(Self.number16(packet, at: offset)) << 16 | UInt32(Self.number16(packet, at: offset + 2))
    }
}
