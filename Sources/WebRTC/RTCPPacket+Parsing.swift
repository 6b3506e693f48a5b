extension RTCPPacket {
    /// Maximum number of packets of a compound packet: more than one of a real sender contains.
    package static let mostPackets = 64

    /// The packets of a compound packet, or of a single packet with reduced size (RFC 5506).
    ///
    /// - Returns: nil if the datagram is empty, a length exceeds it, the version is not 2, padding is wrong, or there are
    ///   more than ``mostPackets``: then no packet of it may be used.
    package static func parse(_ bytes: [UInt8]) -> [RTCPPacket]? {
        var packets: [RTCPPacket] = []
        var at = 0
        guard !bytes.isEmpty else { return nil }
        while at < bytes.count {
            guard at + 4 <= bytes.count, bytes[at] >> 6 == 2, packets.count < self.mostPackets else { return nil }
            let next = at + 4 * (Int(NetworkOrder.read16(bytes, at: at + 2)) + 1)
            guard next <= bytes.count else { return nil }
            var end = next
            if bytes[at] & 0x20 != 0 {
                // RFC 3550 §6.4.1: only the last packet of a compound packet has padding.
                let padding = Int(bytes[next - 1])
                guard next == bytes.count, padding > 0, padding % 4 == 0, at + 4 + padding <= next else { return nil }
                end -= padding
            }
            let reader = Reader(bytes: bytes, body: at + 4..<end, count: bytes[at] & 0x1F, type: bytes[at + 1])
            packets += reader.packets()
            at = next
        }
        return packets
    }

    /// Reads the body of one packet. A report or feedback message with a body that is too short becomes `.other`.
    private struct Reader {
        let bytes: [UInt8]
        let body: Range<Int>
        /// Number of reports or sources, or the format of feedback.
        let count: UInt8
        let type: UInt8

        private var other: RTCPPacket { .other(type: self.type, format: self.count) }

        /// The 32-bit number at an offset in the body.
        private func word(_ offset: Int) -> UInt32? {
            let at = self.body.lowerBound + offset
            return at + 4 <= self.body.upperBound ? NetworkOrder.read32(self.bytes, at: at) : nil
        }

        func packets() -> [RTCPPacket] {
            switch self.type {
            case 200: [self.senderReport() ?? self.other]
            case 201: [self.receiverReport() ?? self.other]
            case 202: [.sourceDescription(self.names())]
            case 203: [.goodbye(ssrcs: (0..<Int(self.count)).compactMap { self.word(4 * $0) })]
            case 204: [self.application() ?? self.other]
            case 205: [self.transportLayer() ?? self.other]
            case 206: [self.payloadSpecific() ?? self.other]
            case 207: self.extendedReports()
            default: [self.other]
            }
        }

        private func senderReport() -> RTCPPacket? {
            guard let ssrc = self.word(0), let high = self.word(4), let low = self.word(8), let time = self.word(12),
                let packets = self.word(16), let octets = self.word(20), let blocks = self.blocks(at: 24)
            else { return nil }
            let report = RTCPSenderReport(
                ssrc: ssrc, ntp: UInt64(high) << 32 | UInt64(low), timestamp: time, packets: packets, octets: octets)
            return .senderReport(report, blocks: blocks)
        }

        private func receiverReport() -> RTCPPacket? {
            guard let ssrc = self.word(0), let blocks = self.blocks(at: 4) else { return nil }
            return .receiverReport(ssrc: ssrc, blocks: blocks)
        }

        private func blocks(at offset: Int) -> [RTCPReportBlock]? {
            var blocks: [RTCPReportBlock] = []
            for number in 0..<Int(self.count) {
                let at = offset + 24 * number
                guard let ssrc = self.word(at), let loss = self.word(at + 4), let highest = self.word(at + 8),
                    let jitter = self.word(at + 12), let last = self.word(at + 16), let delay = self.word(at + 20)
                else { return nil }
                blocks.append(
                    RTCPReportBlock(
                        ssrc: ssrc, fractionLost: UInt8(loss >> 24),
                        // Sign extension of 24 bits.
                        cumulativeLost: Int32(bitPattern: loss << 8) >> 8, highestSequence: highest, jitter: jitter,
                        lastSenderReport: last, delaySinceLastSenderReport: delay))
            }
            return blocks
        }

        private func names() -> [RTCPSourceName] {
            var names: [RTCPSourceName] = []
            var at = self.body.lowerBound
            for _ in 0..<self.count {
                guard at + 4 <= self.body.upperBound else { return names }
                let start = at
                let ssrc = NetworkOrder.read32(self.bytes, at: at)
                at += 4
                while at < self.body.upperBound, self.bytes[at] != 0 {
                    guard at + 2 <= self.body.upperBound else { return names }
                    let end = at + 2 + Int(self.bytes[at + 1])
                    guard end <= self.body.upperBound else { return names }
                    if self.bytes[at] == 1 {
                        names.append(RTCPSourceName(ssrc: ssrc, name: Array(self.bytes[at + 2..<end])))
                        // More than one name of a source makes no sense and would allow long lists.
                        if names.count > 31 { return names }
                    }
                    at = end
                }
                // The list ends with at least one zero byte, and at a multiple of four bytes.
                at = start + ((at - start) / 4 + 1) * 4
            }
            return names
        }

        private func application() -> RTCPPacket? {
            guard let ssrc = self.word(0), let name = self.word(4) else { return nil }
            return .application(ssrc: ssrc, name: name)
        }

        private func transportLayer() -> RTCPPacket? {
            guard let sender = self.word(0), let media = self.word(4) else { return nil }
            switch self.count {
            case 1:
                var lost: [UInt16] = []
                var offset = 8
                while let entry = self.word(offset) {
                    let first = UInt16(entry >> 16)
                    lost.append(first)
                    for bit in 0..<16 where entry & (1 << UInt32(bit)) != 0 { lost.append(first &+ UInt16(bit + 1)) }
                    offset += 4
                }
                return lost.isEmpty ? nil : .nack(sender: sender, media: media, lost: lost)
            case 15:
                let feedback = RTCPTransportFeedback(
                    sender: sender, media: media, bytes: self.bytes,
                    body: self.body.lowerBound + 8..<self.body.upperBound)
                return feedback.map { .transportFeedback($0) }
            default: return nil
            }
        }

        private func payloadSpecific() -> RTCPPacket? {
            guard let sender = self.word(0), let media = self.word(4) else { return nil }
            switch self.count {
            case 1: return .pictureLoss(sender: sender, media: media)
            case 4:
                guard let target = self.word(8), let number = self.word(12) else { return nil }
                return .fullIntraRequest(sender: sender, media: target, number: UInt8(number >> 24))
            case 15: return self.remb(sender: sender)
            default: return nil
            }
        }

        private func remb(sender: UInt32) -> RTCPPacket? {
            // "REMB".
            guard self.word(8) == 0x5245_4D42, let rate = self.word(12) else { return nil }
            let exponent = UInt64(rate >> 18 & 0x3F)
            let mantissa = UInt64(rate & 0x3FFFF)
            // 18 bits shifted by more than 45 would not fit.
            guard exponent <= 45 else { return nil }
            let ssrcs = (0..<Int(rate >> 24)).compactMap { self.word(16 + 4 * $0) }
            return .remb(sender: sender, bitRate: mantissa << exponent, ssrcs: ssrcs)
        }

        private func extendedReports() -> [RTCPPacket] {
            guard let ssrc = self.word(0) else { return [self.other] }
            var packets: [RTCPPacket] = []
            var offset = 4
            while let head = self.word(offset), packets.count < 8 {
                let length = 4 * Int(head & 0xFFFF)
                switch head >> 24 {
                case 4:
                    if length == 8, let high = self.word(offset + 4), let low = self.word(offset + 8) {
                        packets.append(.referenceTime(ssrc: ssrc, ntp: UInt64(high) << 32 | UInt64(low)))
                    }
                case 5:
                    var blocks: [RTCPDelayBlock] = []
                    var at = offset + 4
                    while at + 12 <= offset + 4 + length, let own = self.word(at), let last = self.word(at + 4),
                        let delay = self.word(at + 8)
                    {
                        blocks.append(RTCPDelayBlock(ssrc: own, lastReference: last, delay: delay))
                        at += 12
                    }
                    packets.append(.delaySinceReferenceTime(blocks))
                default: break
                }
                offset += 4 + length
            }
            return packets.isEmpty ? [self.other] : packets
        }
    }
}
