/// Writes the packets of an MPEG-2 transport stream: 188 bytes each, continuity counted over everything that is written.
///
/// Payload is copied in runs of up to 184 bytes into one array of the segment's size, on a thread that no picture waits for;
/// a room of all renditions makes one or two megabytes a second.
///
/// Spec: ISO/IEC 13818-1 §2.4.3.
package struct TransportPacketWriter: Sendable {
    package static let packetSize = 188
    private static let headerSize = 4
    /// §2.4.3.2.
    private static let syncByte: UInt8 = 0x47

    /// What stands in a packet's adaptation field. Spec: §2.4.3.4.
    struct Adaptation: Sendable {
        /// Decoding can begin here.
        var isRandomAccess = false
        /// Time does not go on from the packets before.
        var isDiscontinuous = false
        /// In units of 90 kHz, 33 bits.
        var clock: Int64?

        var isEmpty: Bool { !self.isRandomAccess && !self.isDiscontinuous && self.clock == nil }
        /// Without the byte that tells its length.
        var size: Int { 1 + (self.clock == nil ? 0 : 6) }
    }

    package private(set) var bytes: [UInt8] = []
    /// The number of the next packet with payload, by packet identifier.
    private var counters: [UInt16: UInt8] = [:]

    package init() {}

    /// Hands out what was written; numbers go on.
    mutating func take() -> [UInt8] {
        defer { self.bytes = [] }
        return self.bytes
    }

    mutating func reserve(_ count: Int) { self.bytes.reserveCapacity(count) }

    /// A section of program information in a packet of its own, filled up. Spec: §2.4.4.1.
    mutating func section(_ section: [UInt8], pid: UInt16) {
        let room = Self.packetSize - Self.headerSize - 1
        guard section.count <= room else { return }
        self.header(pid: pid, begins: true, adaptation: false, payload: true)
        self.bytes.append(0)
        self.bytes.append(contentsOf: section)
        self.bytes.append(contentsOf: repeatElement(0xFF, count: room - section.count))
    }

    /// A clock reference in a packet without payload, which counts for nothing. Spec: §2.4.3.3.
    mutating func clock(_ clock: Int64, pid: UInt16, isDiscontinuous: Bool = false) {
        self.header(pid: pid, begins: false, adaptation: true, payload: false)
        self.adaptation(
            Adaptation(isDiscontinuous: isDiscontinuous, clock: clock), size: Self.packetSize - Self.headerSize - 1)
    }

    /// An elementary stream packet, over as many packets as it takes.
    ///
    /// - Parameter adaptation: Of the first of them.
    mutating func stream(_ packet: [UInt8], pid: UInt16, adaptation first: Adaptation) {
        var position = 0
        while position < packet.count {
            let isFirst = position == 0
            let wanted = isFirst && !first.isEmpty ? first.size + 1 : 0
            let left = packet.count - position
            let room = Self.packetSize - Self.headerSize - wanted
            let count = min(left, room)
            // What is missing to a whole packet is stuffing, which stands in the adaptation field.
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
        // Without payload the number is that of the packet before.
        let number = payload ? counter : (counter &- 1) & 0x0F
        self.bytes.append((adaptation ? 0x20 : 0) | (payload ? 0x10 : 0) | number)
    }

    /// - Parameter size: Bytes behind the one that tells the length.
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

/// The checksum of program information. Spec: ISO/IEC 13818-1 Annex A.
enum TransportChecksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { value, _ in
            value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
        }
    }

    static func of(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0xFFFF_FFFF) { $0 << 8 ^ self.table[Int(UInt8(truncatingIfNeeded: $0 >> 24) ^ $1)] }
    }
}
