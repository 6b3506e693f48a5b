/// Writes the 188-byte packets of an MPEG-2 transport stream and maintains the continuity counters.
///
/// The payload is copied in runs of up to 184 bytes into one array per segment.
///
/// Spec: ISO/IEC 13818-1 §2.4.3.
package struct MPEGTSPacketWriter: Sendable {
    package static let packetSize = 188
    private static let headerSize = 4
    /// First byte of every MPEG-TS packet. Spec: §2.4.3.2.
    private static let syncByte: UInt8 = 0x47

    /// The content of a packet's adaptation field. Spec: §2.4.3.4.
    struct Adaptation: Sendable {
        /// Whether decoding can begin with this packet.
        var isRandomAccess = false
        /// Whether time does not continue from the previous packets.
        var isDiscontinuous = false
        /// Program clock reference (PCR) in 90 kHz ticks, of which 33 bits are written; `nil` if there is none.
        var clock: Int64?

        var isEmpty: Bool { !self.isRandomAccess && !self.isDiscontinuous && self.clock == nil }
        /// Size in bytes without the length byte.
        var size: Int { 1 + (self.clock == nil ? 0 : 6) }
    }

    package private(set) var bytes: [UInt8] = []
    /// Continuity counters of the next packet with payload, by packet identifier (PID).
    private var counters: [UInt16: UInt8] = [:]

    package init() {}

    /// Returns and clears the written bytes; continuity counters continue.
    mutating func take() -> [UInt8] {
        defer { self.bytes = [] }
        return self.bytes
    }

    mutating func reserve(_ count: Int) { self.bytes.reserveCapacity(count) }

    /// Writes a section of program information in a padded packet of its own; does nothing if it does not fit. Spec:
    /// §2.4.4.1.
    mutating func section(_ section: [UInt8], pid: UInt16) {
        let room = Self.packetSize - Self.headerSize - 1
        guard section.count <= room else { return }
        self.header(pid: pid, begins: true, adaptation: false, payload: true)
        self.bytes.append(0)
        self.bytes.append(contentsOf: section)
        self.bytes.append(contentsOf: repeatElement(0xFF, count: room - section.count))
    }

    /// Writes a clock reference in a packet without payload; the continuity counter does not advance. Spec: §2.4.3.3.
    mutating func clock(_ clock: Int64, pid: UInt16, isDiscontinuous: Bool = false) {
        self.header(pid: pid, begins: false, adaptation: true, payload: false)
        self.adaptation(
            Adaptation(isDiscontinuous: isDiscontinuous, clock: clock), size: Self.packetSize - Self.headerSize - 1)
    }

    /// Writes a PES packet, split into as many transport packets as it needs.
    ///
    /// - Parameter adaptation: Adaptation field of the first transport packet.
    mutating func stream(_ packet: [UInt8], pid: UInt16, adaptation first: Adaptation) {
        var position = 0
        while position < packet.count {
            let isFirst = position == 0
            let wanted = isFirst && !first.isEmpty ? first.size + 1 : 0
            let left = packet.count - position
            let room = Self.packetSize - Self.headerSize - wanted
            let count = min(left, room)
            // The last packet is padded with stuffing in its adaptation field.
            let field = Self.packetSize - Self.headerSize - count
            self.header(pid: pid, begins: isFirst, adaptation: field > 0, payload: true)
            if field > 0 { self.adaptation(wanted > 0 ? first : Adaptation(), size: field - 1) }
            self.bytes.append(contentsOf: packet[position..<(position + count)])
            position += count
        }
    }

    private mutating func header(pid: UInt16, begins: Bool, adaptation: Bool, payload: Bool) {
        let counter = self.counters[pid] ?? 0
        if payload { self.counters[pid] = (counter &+ 1) & 0x0F }
        self.bytes.append(Self.syncByte)
        self.bytes.append((begins ? 0x40 : 0) | UInt8(truncatingIfNeeded: pid >> 8) & 0x1F)
        self.bytes.append(UInt8(truncatingIfNeeded: pid))
        // A packet without payload repeats the counter of the previous packet.
        let number = payload ? counter : (counter &- 1) & 0x0F
        self.bytes.append((adaptation ? 0x20 : 0) | (payload ? 0x10 : 0) | number)
    }

    /// Writes an adaptation field.
    ///
    /// - Parameter size: Number of bytes after the length byte.
    private mutating func adaptation(_ field: Adaptation, size: Int) {
        self.bytes.append(UInt8(truncatingIfNeeded: size))
        guard size > 0 else { return }
        let flags: UInt8 =
            (field.isDiscontinuous ? 0x80 : 0) | (field.isRandomAccess ? 0x40 : 0) | (field.clock == nil ? 0 : 0x10)
        self.bytes.append(flags)
        if let clock = field.clock {
            // §2.4.3.5: 33 bits of base, six reserved, nine of extension, which is 0.
            let base = UInt64(bitPattern: clock) & 0x1_FFFF_FFFF
            for shift in [25, 17, 9, 1] { self.bytes.append(UInt8(truncatingIfNeeded: base >> UInt64(shift))) }
            self.bytes.append(UInt8(truncatingIfNeeded: base << 7) & 0x80 | 0x7E)
            self.bytes.append(0)
        }
        self.bytes.append(contentsOf: repeatElement(0xFF, count: max(0, size - field.size)))
    }
}

/// Computes the CRC-32 of program information. Spec: ISO/IEC 13818-1 Annex A.
enum MPEGTSChecksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { value, _ in
            value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
        }
    }

    static func of(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0xFFFF_FFFF) { $0 << 8 ^ self.table[Int(UInt8(truncatingIfNeeded: $0 >> 24) ^ $1)] }
    }
}
