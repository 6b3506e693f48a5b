/// Writes a compound RTCP packet, one packet after the other.
///
/// Spec: RFC 3550 §6, RFC 3611 §4.4, RFC 4585 §6, RFC 5104 §4.3.1, draft-alvestrand-rmcat-remb-03.
package struct RTCPWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Writes a sender report (SR), with at most 31 blocks.
    package mutating func senderReport(_ report: RTCPSenderReport, blocks: [RTCPReportBlock] = []) {
        let blocks = blocks.prefix(31)
        self.head(type: 200, count: blocks.count, words: 7 + 6 * blocks.count)
        self.word(report.ssrc)
        self.word(UInt32(truncatingIfNeeded: report.ntp >> 32))
        self.word(UInt32(truncatingIfNeeded: report.ntp))
        self.word(report.timestamp)
        self.word(report.packets)
        self.word(report.octets)
        for block in blocks { self.block(block) }
    }

    /// Writes a receiver report (RR), with at most 31 blocks.
    package mutating func receiverReport(ssrc: UInt32, blocks: [RTCPReportBlock]) {
        let blocks = blocks.prefix(31)
        self.head(type: 201, count: blocks.count, words: 2 + 6 * blocks.count)
        self.word(ssrc)
        for block in blocks { self.block(block) }
    }

    /// SDES with the canonical name of one source.
    ///
    /// - Parameter name: Its first 255 bytes are written.
    package mutating func sourceDescription(ssrc: UInt32, name: String) {
        let text = Array(name.utf8.prefix(255))
        // Item type, length, text and at least one zero byte.
        let words = (2 + text.count) / 4 + 1
        self.head(type: 202, count: 1, words: 2 + words)
        self.word(ssrc)
        self.bytes.append(1)
        self.bytes.append(UInt8(text.count))
        self.bytes += text
        self.bytes.append(contentsOf: repeatElement(0, count: 4 * words - 2 - text.count))
    }

    package mutating func goodbye(ssrcs: [UInt32]) {
        let ssrcs = ssrcs.prefix(31)
        self.head(type: 203, count: ssrcs.count, words: 1 + ssrcs.count)
        for ssrc in ssrcs { self.word(ssrc) }
    }

    /// Generic NACK.
    ///
    /// - Parameter lost: Sequence numbers in ascending order (modulo 2¹⁶); at most 250 entries of up to 17 are written.
    package mutating func nack(sender: UInt32, media: UInt32, lost: [UInt16]) {
        var entries: [UInt32] = []
        for number in lost {
            if let last = entries.last {
                let distance = number &- UInt16(last >> 16)
                if distance == 0 { continue }
                if distance <= 16 {
                    entries[entries.count - 1] = last | 1 << UInt32(distance - 1)
                    continue
                }
            }
            guard entries.count < Self.mostNACKEntries else { break }
            entries.append(UInt32(number) << 16)
        }
        guard !entries.isEmpty else { return }
        self.head(type: 205, count: 1, words: 3 + entries.count)
        self.word(sender)
        self.word(media)
        for entry in entries { self.word(entry) }
    }

    /// Maximum number of entries in one NACK, so that a datagram has space for another message.
    static let mostNACKEntries = 250

    /// Writes a PLI, which asks for a key frame.
    package mutating func pictureLoss(sender: UInt32, media: UInt32) {
        self.head(type: 206, count: 1, words: 3)
        self.word(sender)
        self.word(media)
    }

    /// FIR: asks for a key frame. A repetition of a request has the same number.
    package mutating func fullIntraRequest(sender: UInt32, media: UInt32, number: UInt8) {
        self.head(type: 206, count: 4, words: 5)
        self.word(sender)
        // RFC 5104 §4.3.1.2: not used, must be 0.
        self.word(0)
        self.word(media)
        self.word(UInt32(number) << 24)
    }

    /// REMB: the highest bit rate in bits per second of all these sources together. Rounded down to 18 significant bits.
    package mutating func remb(sender: UInt32, bitRate: UInt64, ssrcs: [UInt32]) {
        let ssrcs = ssrcs.prefix(255)
        var mantissa = min(bitRate, 0x3FFFF << 45)
        var exponent: UInt32 = 0
        while mantissa > 0x3FFFF {
            mantissa >>= 1
            exponent += 1
        }
        self.head(type: 206, count: 15, words: 5 + ssrcs.count)
        self.word(sender)
        self.word(0)
        self.word(0x5245_4D42)
        self.word(UInt32(ssrcs.count) << 24 | exponent << 18 | UInt32(mantissa))
        for ssrc in ssrcs { self.word(ssrc) }
    }

    /// XR with a receiver reference time: the peer answers with the delay, from which the round-trip time follows.
    package mutating func referenceTime(ssrc: UInt32, ntp: UInt64) {
        self.head(type: 207, count: 0, words: 5)
        self.word(ssrc)
        self.word(4 << 24 | 2)
        self.word(UInt32(truncatingIfNeeded: ntp >> 32))
        self.word(UInt32(truncatingIfNeeded: ntp))
    }

    /// Writes an XR with the answers to reference times, at most 31.
    package mutating func delaySinceReferenceTime(ssrc: UInt32, blocks: [RTCPDelayBlock]) {
        let blocks = blocks.prefix(31)
        self.head(type: 207, count: 0, words: 3 + 3 * blocks.count)
        self.word(ssrc)
        self.word(5 << 24 | UInt32(3 * blocks.count))
        for block in blocks {
            self.word(block.ssrc)
            self.word(block.lastReference)
            self.word(block.delay)
        }
    }

    /// Appends a whole RTCP packet.
    package mutating func append(_ message: [UInt8]) { self.bytes += message }

    /// - Parameter words: Length of the packet in units of four bytes, header included.
    private mutating func head(type: UInt8, count: Int, words: Int) {
        self.bytes.append(0x80 | UInt8(count))
        self.bytes.append(type)
        NetworkOrder.append(UInt16(words - 1), to: &self.bytes)
    }

    private mutating func word(_ value: UInt32) { NetworkOrder.append(value, to: &self.bytes) }

    private mutating func block(_ block: RTCPReportBlock) {
        self.word(block.ssrc)
        self.word(UInt32(block.fractionLost) << 24 | UInt32(bitPattern: block.cumulativeLost) & 0xFF_FFFF)
        self.word(block.highestSequence)
        self.word(block.jitter)
        self.word(block.lastSenderReport)
        self.word(block.delaySinceLastSenderReport)
    }
}
