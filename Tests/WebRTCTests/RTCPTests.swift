import Testing
import WebRTC

@Suite("RTCP packets: RFC 3550 §6, RFC 3611, RFC 4585, RFC 5104, REMB")
struct RTCPTests {
    private static func written(_ write: (inout RTCPWriter) -> Void) -> [UInt8] {
        var writer = RTCPWriter()
        write(&writer)
        return writer.bytes
    }

    @Test("a generic NACK has one entry for a number and the 16 after it, and at most 250 entries: RFC 4585 §6.2.1")
    func nack() {
        // 100; 101 is bit 0, 116 bit 15; 117 needs another entry; 65,535 and 2 are three apart.
        let bytes = Self.written { $0.nack(sender: 1, media: 2, lost: [100, 101, 116, 117, 65_535, 2]) }
        #expect(
            bytes == [
                0x81, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 100, 0x80, 0x01, 0, 117, 0, 0, 0xFF, 0xFF, 0, 0b100,
            ])
        #expect(
            RTCPPacket.parse(bytes) == [.nack(sender: 1, media: 2, lost: [100, 101, 116, 117, 65_535, 2])])
        #expect(Self.written { $0.nack(sender: 1, media: 2, lost: []) } == [])
        let many = Self.written { $0.nack(sender: 1, media: 2, lost: (0..<600).map { UInt16($0 * 20) }) }
        #expect(many.count == 12 + 4 * 250)
    }

    @Test("PLI (RFC 4585 §6.3.1) and FIR (RFC 5104 §4.3.1) are written and read")
    func keyFrames() {
        let pictureLoss = Self.written { $0.pictureLoss(sender: 0x0102_0304, media: 0x0506_0708) }
        #expect(pictureLoss == [0x81, 206, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8])
        let full = Self.written { $0.fullIntraRequest(sender: 1, media: 0x0506_0708, number: 9) }
        #expect(full == [0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 5, 6, 7, 8, 9, 0, 0, 0])
        #expect(
            RTCPPacket.parse(pictureLoss + full) == [
                .pictureLoss(sender: 0x0102_0304, media: 0x0506_0708),
                .fullIntraRequest(sender: 1, media: 0x0506_0708, number: 9),
            ])
    }

    @Test("REMB has 18 bits of mantissa and 6 of exponent; larger bit rates are written as the largest value")
    func remb() {
        // 1,500,000 = 187,500 × 2³; 187,500 is 0x2DC6C.
        let bytes = Self.written { $0.remb(sender: 1, bitRate: 1_500_000, ssrcs: [3, 4]) }
        #expect(
            bytes == [
                0x8F, 206, 0, 6, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 2, 0b0000_1110, 0xDC, 0x6C, 0, 0, 0, 3,
                0, 0, 0, 4,
            ])
        #expect(RTCPPacket.parse(bytes) == [.remb(sender: 1, bitRate: 1_500_000, ssrcs: [3, 4])])
        let most = Self.written { $0.remb(sender: 1, bitRate: .max, ssrcs: []) }
        #expect(RTCPPacket.parse(most) == [.remb(sender: 1, bitRate: 0x3FFFF << 45, ssrcs: [])])
    }

    @Test("a compound of RR, SDES and XR is written and read: RFC 3550 §6.4.2, §6.5, RFC 3611 §4.4")
    func compound() {
        let block = RTCPReportBlock(
            ssrc: 0x11223344, fractionLost: 64, cumulativeLost: -2, highestSequence: 0x0001_0005, jitter: 7,
            lastSenderReport: 0xAABBCCDD, delaySinceLastSenderReport: 0x0001_8000)
        let bytes = Self.written {
            $0.receiverReport(ssrc: 5, blocks: [block])
            $0.sourceDescription(ssrc: 5, name: "ab")
            $0.referenceTime(ssrc: 5, ntp: 0x0102_0304_0506_0708)
        }
        #expect(
            bytes == [
                0x81, 201, 0, 7, 0, 0, 0, 5, 0x11, 0x22, 0x33, 0x44, 64, 0xFF, 0xFF, 0xFE, 0, 1, 0, 5, 0, 0, 0, 7,
                0xAA, 0xBB, 0xCC, 0xDD, 0, 1, 0x80, 0,
                // The name is followed by four zeros, since at least one is required.
                0x81, 202, 0, 3, 0, 0, 0, 5, 1, 2, 0x61, 0x62, 0, 0, 0, 0,
                0x80, 207, 0, 4, 0, 0, 0, 5, 4, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8,
            ])
        #expect(
            RTCPPacket.parse(bytes) == [
                .receiverReport(ssrc: 5, blocks: [block]),
                .sourceDescription([RTCPSourceName(ssrc: 5, name: [0x61, 0x62])]),
                .referenceTime(ssrc: 5, ntp: 0x0102_0304_0506_0708),
            ])
    }

    @Test("SR, BYE with a reason, DLRR, APP and unknown packets are read")
    func others() {
        let report = RTCPSenderReport(ssrc: 1, ntp: 0xE000_0000_8000_0000, timestamp: 9, packets: 10, octets: 11)
        let delay = RTCPDelayBlock(ssrc: 1, lastReference: 2, delay: 3)
        var bytes = Self.written {
            $0.senderReport(report)
            $0.goodbye(ssrcs: [1, 2])
            $0.delaySinceReferenceTime(ssrc: 1, blocks: [delay])
        }
        bytes += [0x81, 203, 0, 2, 0, 0, 0, 7, 3, 0x62, 0x79, 0x65]
        bytes += [0x80, 204, 0, 2, 0, 0, 0, 7, 0x6E, 0x61, 0x6D, 0x65]
        bytes += [0x85, 210, 0, 0]
        #expect(
            RTCPPacket.parse(bytes) == [
                .senderReport(report, blocks: []), .goodbye(ssrcs: [1, 2]), .delaySinceReferenceTime([delay]),
                .goodbye(ssrcs: [7]), .application(ssrc: 7, name: 0x6E61_6D65), .other(type: 210, format: 5),
            ])
    }

    @Test("a source name of 0 to 9 bytes is padded to a multiple of four and read again")
    func names() {
        for count in 0...9 {
            let name = String(repeating: "n", count: count)
            let bytes = Self.written {
                $0.sourceDescription(ssrc: 5, name: name)
                $0.pictureLoss(sender: 1, media: 2)
            }
            #expect(bytes.count % 4 == 0)
            #expect(
                RTCPPacket.parse(bytes) == [
                    .sourceDescription([RTCPSourceName(ssrc: 5, name: Array(name.utf8))]),
                    .pictureLoss(sender: 1, media: 2),
                ])
        }
    }

    @Test("an RTCP datagram with a wrong length, version or padding, or with too many packets, is refused as a whole")
    func malformed() {
        let good = Self.written { $0.pictureLoss(sender: 1, media: 2) }
        #expect(RTCPPacket.parse([]) == nil)
        for count in 1..<good.count { #expect(RTCPPacket.parse(Array(good.prefix(count))) == nil) }
        #expect(RTCPPacket.parse([0x41] + good.dropFirst()) == nil)
        #expect(RTCPPacket.parse(good + [0x81, 206, 0, 9, 0, 0, 0, 0]) == nil)
        let padded: [UInt8] = [0xA1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4]
        #expect(RTCPPacket.parse(padded) == [.pictureLoss(sender: 1, media: 2)])
        #expect(RTCPPacket.parse(padded + good) == nil, "only the last packet has padding")
        #expect(RTCPPacket.parse(padded.dropLast() + [5]) == nil)
        #expect(RTCPPacket.parse(padded.dropLast() + [0]) == nil)
        #expect(RTCPPacket.parse(padded.dropLast() + [16]) == nil)
        let many = (0...RTCPPacket.mostPackets).flatMap { _ in good }
        #expect(RTCPPacket.parse(many) == nil)
        #expect(RTCPPacket.parse(Array(many.dropLast(good.count)))?.count == RTCPPacket.mostPackets)
    }

    @Test("an RTCP packet that is too short for its type is ignored, and the packets after it are read")
    func shortBody() {
        let next = Self.written { $0.pictureLoss(sender: 1, media: 2) }
        let read = RTCPPacket.pictureLoss(sender: 1, media: 2)
        #expect(RTCPPacket.parse([0x80, 200, 0, 0] + next) == [.other(type: 200, format: 0), read])
        #expect(RTCPPacket.parse([0x82, 201, 0, 1, 0, 0, 0, 1] + next) == [.other(type: 201, format: 2), read])
        #expect(RTCPPacket.parse([0x81, 205, 0, 0] + next) == [.other(type: 205, format: 1), read])
        #expect(
            RTCPPacket.parse([0x8F, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2] + next) == [.other(type: 206, format: 15), read])
        #expect(RTCPPacket.parse([0x80, 207, 0, 1, 0, 0, 0, 1] + next) == [.other(type: 207, format: 0), read])
    }
}
