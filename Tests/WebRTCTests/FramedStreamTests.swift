import Testing
import WebRTC

@Suite("Packets on TCP: RFC 4571")
struct FramedStreamTests {
    private static let packets: [[UInt8]] = [
        [1], [UInt8](repeating: 2, count: 1500), [3, 4], [UInt8](repeating: 5, count: 4096),
    ]

    private static func drained(_ stream: inout FramedStream) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while case .packet(let packet) = stream.next() { packets.append(packet) }
        return packets
    }

    @Test(
        "TCP bytes split anywhere give the same packets; empty packets are skipped",
        arguments: [1, 2, 3, 7, 100, 1499, 1502, 9000])
    func splits(size: Int) throws {
        let bytes: [UInt8] = try Self.packets.flatMap { packet -> [UInt8] in
            try #require(FramedStream.frame(packet)) + [0, 0]
        }
        var stream = FramedStream()
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            stream.append(bytes[start..<min(start + size, bytes.count)])
            found += Self.drained(&stream)
            #expect(stream.count <= FramedStream.largestPacket + 2)
        }
        #expect(found == Self.packets && stream.next() == .needsBytes && stream.count == 0)
    }

    @Test("a packet over the limit of 4,096 bytes ends the stream, and its bytes are not kept")
    func tooLong() {
        var stream = FramedStream()
        stream.append([0, 1, 7, 0x10, 0x01])
        #expect(stream.next() == .packet([7]))
        #expect(stream.next() == .tooLong(4097))
        for _ in 0..<100 { stream.append([UInt8](repeating: 0, count: 1000)) }
        #expect(stream.next() == .tooLong(4097) && stream.count == 2)
    }

    @Test("a packet of more than 65,535 bytes cannot be framed")
    func framing() {
        #expect(FramedStream.frame([UInt8](repeating: 1, count: 65_535))?.prefix(2) == [0xFF, 0xFF])
        #expect(FramedStream.frame([UInt8](repeating: 1, count: 65_536)) == nil)
    }
}
