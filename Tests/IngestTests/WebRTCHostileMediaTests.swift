import Ingest
import MediaTypes
import Testing
import WebRTC

/// Media of a peer that has connected and then sends what it likes. After most attacks a test checks that later key
/// frames still arrive.
@Suite("Hostile media of a connected WebRTC publisher")
struct WebRTCHostileMediaTests {
    private typealias Pair = WebRTCSessionTests.Pair

    private static func connected() throws -> Pair {
        let pair = try Pair()
        pair.connect()
        pair.sendMedia()
        pair.advance(seconds: 0.1)
        try #require(Self.keyFrames(pair) == 1)
        return pair
    }

    private static func keyFrames(_ pair: Pair) -> Int { pair.packets.count { $0.kind == .video && $0.isKey } }

    /// The session still receives.
    private static func expectAlive(_ pair: Pair, sourceLocation: SourceLocation = #_sourceLocation) {
        let before = Self.keyFrames(pair)
        for _ in 0..<3 {
            pair.advance(seconds: 1.2)
            pair.send(pair.peer.check())
            pair.sendMedia()
        }
        pair.advance(seconds: 0.5)
        #expect(pair.session.isConnected && Self.keyFrames(pair) > before, sourceLocation: sourceLocation)
    }

    @Test("unencrypted RTP and RTCP are refused and counted, before and after the handshake")
    func unencrypted() throws {
        let plain = WebRTCPeer().packet(
            96, 1, 1, 0x1111, RTPPayload(bytes: [0x65, 0x88, 0x84], marker: true), isProtected: false)
        let report: [UInt8] = [0x80, 200, 0, 6] + [UInt8](repeating: 1, count: 24)
        let early = try Pair()
        early.send(early.peer.check(), from: Pair.stranger)
        early.send(plain, from: Pair.stranger)
        early.send(report, from: Pair.stranger)
        #expect(early.session.counters.early == 2 && early.items.isEmpty)
        let pair = try Self.connected()
        let (items, counters) = (pair.items.count, pair.session.counters)
        for _ in 0..<10 {
            pair.send(plain)
            pair.send(report)
        }
        let now = pair.session.counters
        #expect(now.forged + now.malformed == counters.forged + counters.malformed + 20)
        #expect(pair.items.count == items)
        Self.expectAlive(pair)
    }

    @Test("an SRTP packet with any one bit flipped is refused, and the unchanged packet is accepted afterwards")
    func flippedBits() throws {
        let pair = try Self.connected()
        let packet = pair.peer.audioPacket()
        let before = pair.items.count
        for bit in 0..<packet.count * 8 {
            var damaged = packet
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            pair.send(damaged)
        }
        #expect(pair.items.count == before)
        pair.send(packet)
        pair.advance(seconds: 0.3)
        #expect(pair.items.count == before + 1)
    }

    @Test("of thousands of SSRCs, SRTP accepts eight and counts the packets of the others")
    func manySources() throws {
        let pair = try Self.connected()
        for number in 0..<3000 { pair.send(pair.peer.packet(ofOther: 0x5000 + UInt32(number))) }
        #expect(pair.session.counters.tooManySources == 2994)
        Self.expectAlive(pair)
    }

    @Test("packets whose sequence numbers and times jump give at most one frame, and later key frames are delivered")
    func jumps() throws {
        let pair = try Self.connected()
        for step in 0..<500 {
            pair.peer.sequence &+= UInt16(7919 * (step % 4))
            pair.peer.videoTime &+= 0x3456_789B
            pair.send(pair.peer.videoPacket([0x41, 0x9A, 1], marker: true))
            if step.isMultiple(of: 50) { pair.advance(seconds: 0.3) }
        }
        #expect(pair.packets.count { $0.kind == .video } <= 2)
        Self.expectAlive(pair)
    }

    @Test("frames with wrong NAL unit lengths or endless fragments are dropped, and later key frames are delivered")
    func lyingPayloads() throws {
        let payloads: [[UInt8]] = [
            [0x78, 0xFF, 0xFF, 0x65, 0x88], [0x78, 0, 0], [0x78, 0, 6, 0x65], [0x7C], [0x7C, 0x45, 1], [0x78],
        ]
        let pair = try Self.connected()
        for payload in payloads {
            pair.peer.videoTime &+= 3000
            pair.send(pair.peer.videoPacket(payload, marker: true))
        }
        pair.advance(seconds: 0.5)
        // 33 MB of one frame.
        pair.peer.videoTime &+= 3000
        let part = [UInt8](repeating: 0xAA, count: 1100)
        pair.send(pair.peer.videoPacket([0x7C, 0x85] + part, marker: false))
        for _ in 0..<30_000 { pair.send(pair.peer.videoPacket([0x7C, 0x05] + part, marker: false)) }
        pair.advance(seconds: 0.5)
        let (_, assemblies) = pair.session.statistics(now: pair.now)
        #expect(assemblies.contains { $0.tooLarge > 0 })
        #expect(Self.keyFrames(pair) == 1)
        Self.expectAlive(pair)
    }

    @Test("RTP packets whose headers claim more bytes than they have are refused, and later key frames are delivered")
    func lyingHeaders() throws {
        let pair = try Self.connected()
        let before = pair.items.count
        for length in [0x0001, 0x00FF, 0xFFFF] as [UInt16] {
            // Extension bit set; the length is in words of 32 bits.
            var packet: [UInt8] = [0x90, 96, 0, 9, 0, 0, 0, 9, 0, 0, 0x11, 0x11, 0xBE, 0xDE]
            packet += [UInt8(length >> 8), UInt8(length & 0xFF), 0x10, 1]
            pair.send(packet)
        }
        // 15 contributing sources that are not there.
        pair.send([0x8F, 96, 0, 9, 0, 0, 0, 9, 0, 0, 0x11, 0x11])
        let counters = pair.session.counters
        #expect(counters.malformed + counters.forged == 4 && pair.items.count == before)
        Self.expectAlive(pair)
    }
}
