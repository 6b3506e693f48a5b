import Testing
import WebRTC

@Suite("Ordered RTP packets")
struct OrderedPacketTests {
    @Test("the payload of an ordered packet is a slice of its datagram")
    func slice() {
        let datagram: [UInt8] = [0x80, 96, 1, 2, 3]
        let packet = OrderedPacket(sequence: 1, timestamp: 2, marker: true, payload: datagram[2...], arrival: 3)
        #expect(packet.payload.startIndex == 2)
        #expect(Array(packet.payload) == [1, 2, 3])
        #expect(!packet.isAfterLoss)
    }
}
