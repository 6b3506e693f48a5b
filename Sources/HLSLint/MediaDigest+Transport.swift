/// Segments of an MPEG-2 transport stream. Spec: rfc8216bis §3.1.1; ISO/IEC 13818-1 §2.4.3.
extension MediaDigest {
    private static let packetSize = 188
    private static let syncByte: UInt8 = 0x47

    /// The bytes begin as packets do, and as nothing else that a segment without a map may be.
    static func isTransport(_ bytes: [UInt8]) -> Bool { bytes.first == Self.syncByte }

    /// Whole packets, tables before media, and numbers without a hole.
    init(transport bytes: [UInt8]) {
        self.init(unread: bytes)
        guard bytes.count.isMultiple(of: Self.packetSize) else {
            self.fault(.segmentUnreadable, "its \(bytes.count) bytes are no whole packets of \(Self.packetSize)")
            return
        }
        // By packet identifier: the number of the last packet.
        var counters: [Int: UInt8] = [:]
        var map: Int?
        for start in stride(from: 0, to: bytes.count, by: Self.packetSize) {
            let packet = bytes[start..<(start + Self.packetSize)]
            guard packet[start] == Self.syncByte else {
                self.fault(.segmentUnreadable, "its packet at byte \(start) does not begin with 0x47")
                return
            }
            let identifier = Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2])
            // Stuffing.
            if identifier == 0x1FFF { continue }
            if identifier == 0, map == nil { map = Self.mapIdentifier(packet) }
            // Below are tables that say other things.
            if identifier >= 0x20, map == nil || (counters[map ?? 0] == nil && identifier != map) {
                self.fault(.segmentUnreadable, "packets of media come before the tables that say what they are")
                return
            }
            if let fault = Self.hole(in: packet, after: counters[identifier]) {
                self.fault(.segmentUnreadable, "packet identifier \(identifier) at byte \(start): \(fault)")
            }
            counters[identifier] = packet[start + 3] & 0x0F
        }
        if map == nil { self.fault(.segmentUnreadable, "it has no program association table") }
    }

    /// The packet identifier of the first program's map, of a table that fits into its packet.
    private static func mapIdentifier(_ packet: ArraySlice<UInt8>) -> Int? {
        let start = packet.startIndex
        var position = start + 4
        if packet[start + 3] & 0x20 != 0 { position += 1 + Int(packet[start + 4]) }
        // Behind the pointer and the eight bytes of the section's head: number and identifier.
        guard position < packet.endIndex else { return nil }
        position += 1 + Int(packet[position]) + 8
        // Number 0 is no program but the network.
        while position + 4 <= packet.endIndex, packet[position] == 0, packet[position + 1] == 0 { position += 4 }
        guard position + 4 <= packet.endIndex else { return nil }
        return Int(packet[position + 2] & 0x1F) << 8 | Int(packet[position + 3])
    }

    /// What is wrong with a packet's number; a packet may be there twice, and a discontinuity may be marked.
    private static func hole(in packet: ArraySlice<UInt8>, after last: UInt8?) -> String? {
        let start = packet.startIndex
        let control = packet[start + 3] >> 4 & 3
        let hasField = control & 2 != 0 && packet[start + 4] > 0
        guard let last, !(hasField && packet[start + 5] & 0x80 != 0) else { return nil }
        let number = packet[start + 3] & 0x0F
        let next = control & 1 != 0 ? (last + 1) & 0x0F : last
        return number == next || number == last ? nil : "continuity \(number) where \(next) is next"
    }
}
