import Testing
import WebRTC

@Suite("RTP packets: RFC 3550 §5.1, RFC 8285")
struct RTPPacketTests {
    @Test("an RTP packet with CSRCs, one-byte extension elements and padding is parsed")
    func everything() throws {
        let bytes: [UInt8] = [
            0xB2, 0xE0, 0x12, 0x34, 0, 0, 1, 0, 0xAA, 0xBB, 0xCC, 0xDD,
            // Two CSRCs.
            0, 0, 0, 1, 0, 0, 0, 2,
            // Two words: id 3 with two bytes, a padding byte, id 13 with one byte, padding.
            0xBE, 0xDE, 0, 2, 0x31, 0x56, 0x78, 0, 0xD0, 0x02, 0, 0,
            // Payload, and three bytes of padding.
            7, 8, 9, 0, 0, 3,
        ]
        let packet = try #require(RTPPacket(bytes))
        #expect(packet.payloadType == 0x60)
        #expect(packet.marker)
        #expect(packet.sequence == 0x1234)
        #expect(packet.timestamp == 256)
        #expect(packet.ssrc == 0xAABB_CCDD)
        #expect(Array(packet.bytes[packet.payload]) == [7, 8, 9])
        #expect(packet.elementNumber(3) == 0x5678)
        #expect(packet.elementByte(13) == 2)
        #expect(packet.element(4) == nil)
        #expect(packet.elementByte(nil) == nil)
        #expect(packet.elementNumber(13) == nil, "one byte is no number")
    }

    @Test("an RTP packet with two-byte extension elements, one of them empty, is parsed")
    func longElements() throws {
        let bytes: [UInt8] = [
            0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0x10, 0x05, 0, 3, 200, 0, 3, 2, 0x12, 0x34, 16, 3, 0x61, 0x62, 0x63,
            0, 5,
        ]
        let packet = try #require(RTPPacket(bytes))
        #expect(packet.element(200)?.isEmpty == true)
        #expect(packet.elementByte(200) == nil)
        #expect(packet.elementNumber(3) == 0x1234)
        #expect(packet.hasElement(16, equalTo: "abc".utf8))
        #expect(!packet.hasElement(16, equalTo: "ab".utf8))
        #expect(Array(packet.bytes[packet.payload]) == [5])
    }

    @Test(
        "in an RTP header extension, id 15 ends one-byte elements, and an element longer than the extension does not count"
    )
    func endOfElements() throws {
        let head: [UInt8] = [0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xBE, 0xDE, 0, 1]
        let ended = try #require(RTPPacket(head + [0xF0, 0x30, 1, 0, 9]))
        #expect(ended.element(3) == nil)
        let long = try #require(RTPPacket(head + [0x3F, 1, 2, 3, 9]))
        #expect(long.element(3) == nil)
        #expect(Array(long.bytes[long.payload]) == [9])
    }

    @Test("an RTP header extension of another profile is skipped")
    func otherProfile() throws {
        let packet = try #require(
            RTPPacket([0x90, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0x12, 0x34, 0, 1, 0x31, 1, 2, 0, 9]))
        #expect(packet.element(3) == nil)
        #expect(packet.payload.count == 1)
    }

    @Test("an RTP packet with lengths beyond its end is refused; one with only padding has no payload")
    func lengths() throws {
        let plain = PacketBuilder(payload: [1, 2, 3]).bytes
        #expect(RTPPacket(plain) != nil)
        for count in 0..<12 { #expect(RTPPacket(Array(plain.prefix(count))) == nil) }
        #expect(RTPPacket([0x40] + plain.dropFirst()) == nil, "version 1")
        #expect(RTPPacket([0x8F] + plain.dropFirst()) == nil, "15 CSRCs")
        #expect(RTPPacket([0x90] + plain.dropFirst()) == nil, "an extension without its header")
        #expect(RTPPacket(PacketBuilder().bytes.prefix(12) + [0xBE, 0xDE, 0xFF, 0xFF, 1]) != nil, "no extension bit")
        #expect(RTPPacket([0x90] + plain[1..<12] + [0xBE, 0xDE, 0, 2, 1, 2, 3, 4]) == nil)
        #expect(RTPPacket([0xA0] + plain[1..<12] + [0, 0, 0]) == nil, "a padding count of 0")
        #expect(RTPPacket([0xA0] + plain[1..<12] + [0, 0, 4]) == nil, "more padding than bytes")
        #expect(RTPPacket([0xA0] + plain[1..<12]) == nil, "padding that would be the header")
        let probe = try #require(RTPPacket([0xA0] + plain[1..<12] + [0, 0, 3]))
        #expect(probe.payload.isEmpty)
    }
}

@Suite("Sequence numbers and RTP times that wrap")
struct SequenceUnwrapperTests {
    @Test("RTP sequence numbers continue over wraps, also if they arrive out of order")
    func wraps() {
        var unwrapper = SequenceUnwrapper()
        let first = unwrapper.unwrap(65_533)
        #expect(unwrapper.unwrap(65_535) == first + 2)
        #expect(unwrapper.unwrap(1) == first + 4)
        #expect(unwrapper.unwrap(65_534) == first + 1)
        #expect(unwrapper.unwrap(0) == first + 3)
        #expect(unwrapper.highest == first + 4)
        #expect(unwrapper.peek(2) == first + 5)
        #expect(unwrapper.highest == first + 4)
        for number in 2..<200_000 { _ = unwrapper.unwrap(UInt16(truncatingIfNeeded: number)) }
        #expect(unwrapper.highest == first + 2 + 200_000)
    }

    @Test(
        "after a restart, sequence numbers continue above all earlier ones, with the sender's number in the lower 16 bits"
    )
    func restarts() {
        var unwrapper = SequenceUnwrapper()
        #expect(unwrapper.restart(at: 7) == 65_543)
        for sequence: UInt16 in [3, 3, 65_000, 64_999, 0] {
            let before = unwrapper.highest ?? 0
            let extended = unwrapper.restart(at: sequence)
            #expect(extended > before)
            #expect(extended - before <= 65_536)
            #expect(UInt16(truncatingIfNeeded: extended) == sequence)
        }
    }

    @Test("RTP times continue over wraps in both directions")
    func times() {
        var unwrapper = RTPTimeUnwrapper()
        let first = unwrapper.unwrap(4_294_967_000)
        #expect(unwrapper.unwrap(704) == first + 1_000)
        #expect(unwrapper.peek(4_294_967_000) == first)
        #expect(unwrapper.unwrap(4_294_967_000) == first)
    }
}
