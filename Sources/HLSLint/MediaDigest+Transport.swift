/// Reads segments that are MPEG-2 transport streams. Spec: rfc8216bis §3.1.1; ISO/IEC 13818-1 §2.4.3.
extension MediaDigest {
    private static let packetSize = 188
    private static let syncByte: UInt8 = 0x47

    /// Whether the bytes begin with the sync byte of MPEG-TS packets; no other segment without an initialization
    /// segment does.
    static func isTransport(_ bytes: [UInt8]) -> Bool { bytes.first == Self.syncByte }

    /// Checks an MPEG-TS segment: it must have whole packets, tables before media, and continuous continuity counters.
    init(transport bytes: [UInt8]) {
        self.init(unread: bytes)
        guard bytes.count.isMultiple(of: Self.packetSize) else {
            self.fault(.segmentUnreadable, "its \(bytes.count) bytes are not whole packets of \(Self.packetSize)")
            return
        }
        // Last continuity counter by packet identifier.
        var counters: [Int: UInt8] = [:]
        var map: Int?
        for start in stride(from: 0, to: bytes.count, by: Self.packetSize) {
            let packet = bytes[start..<(start + Self.packetSize)]
            guard packet[start] == Self.syncByte else {
                self.fault(.segmentUnreadable, "its packet at byte \(start) does not begin with 0x47")
                return
            }
            let identifier = Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2])
            // Null packets.
            if identifier == 0x1FFF { continue }
            if identifier == 0, map == nil { map = Self.mapIdentifier(packet) }
            // Identifiers below 0x20 are other tables.
            if identifier >= 0x20, map == nil || (counters[map ?? 0] == nil && identifier != map) {
                self.fault(.segmentUnreadable, "media packets come before the tables that describe them")
                return
            }
            if let fault = Self.hole(in: packet, after: counters[identifier]) {
                self.fault(.segmentUnreadable, "packet identifier \(identifier) at byte \(start): \(fault)")
            }
            counters[identifier] = packet[start + 3] & 0x0F
        }
        if map == nil { self.fault(.segmentUnreadable, "it has no program association table") }
    }

    /// Returns the packet identifier of the first program's map table; `nil` if the packet of the association table has
    /// no program.
    private static func mapIdentifier(_ packet: ArraySlice<UInt8>) -> Int? {
        let start = packet.startIndex
        var position = start + 4
        if packet[start + 3] & 0x20 != 0 { position += 1 + Int(packet[start + 4]) }
        // Skips the pointer and the eight bytes of the section header; then program number and identifier follow.
        guard position < packet.endIndex else { return nil }
        position += 1 + Int(packet[position]) + 8
        // Program number 0 is the network information table.
        while position + 4 <= packet.endIndex, packet[position] == 0, packet[position + 1] == 0 { position += 4 }
        guard position + 4 <= packet.endIndex else { return nil }
        return Int(packet[position + 2] & 0x1F) << 8 | Int(packet[position + 3])
    }

    /// Describes an error of a packet's continuity counter; `nil` if there is none. A packet may be repeated, and a
    /// discontinuity may be signaled.
    private static func hole(in packet: ArraySlice<UInt8>, after last: UInt8?) -> String? {
        let start = packet.startIndex
        let control = packet[start + 3] >> 4 & 3
        let hasField = control & 2 != 0 && packet[start + 4] > 0
        guard let last, !(hasField && packet[start + 5] & 0x80 != 0) else { return nil }
        let number = packet[start + 3] & 0x0F
        let next = control & 1 != 0 ? (last + 1) & 0x0F : last
        return number == next || number == last ? nil : "the continuity counter is \(number), \(next) was expected"
    }
}
