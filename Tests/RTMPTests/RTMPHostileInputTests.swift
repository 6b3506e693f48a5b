import MediaKernels
import MediaTypes
import RTMP
import TestSupport
import Testing

@Suite("RTMP from hostile peers: no trap, and a connection is closed at most once")
struct RTMPHostileInputTests {
    /// Feeds a session and demuxes its output, like a server.
    static func run(_ bytes: [UInt8], random: inout TestRandom) -> SessionHarness {
        let harness = SessionHarness()
        let largest = [1, 50, 5000, 100_000].randomElement(using: &random) ?? 1
        let pieces = (0..<4000).map { _ in Int.random(in: 1...largest, using: &random) }
        harness.feed(bytes, pieces: pieces)
        var demuxer = FLVDemuxer()
        var items: [SourceItem] = []
        for case .media(let kind, let timestamp, let payload) in harness.events {
            let media = RTMPMediaMessage(kind: kind, timestamp: timestamp, payload: PacketMemory(payload))
            demuxer.receive(media, arrival: 0, into: &items)
        }
        for case .packet(let packet) in items {
            #expect(packet.range.upperBound <= packet.memory.count && packet.range.lowerBound >= 0)
        }
        let closes = harness.events.filter { if case .close = $0 { true } else { false } }
        #expect(closes.count <= 1)
        return harness
    }

    @Test(
        "random bytes after the handshake or instead of it do not trap, and close the session at most once",
        arguments: 0..<150)
    func noise(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let count = Int.random(in: 0...20_000, using: &random)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        _ = Self.run([3] + [UInt8](repeating: 0, count: 3072) + bytes, random: &random)
        _ = Self.run(bytes, random: &random)
    }

    @Test(
        "captures with changed, dropped and doubled bytes do not trap, and close the session at most once",
        arguments: Fixtures.names)
    func mutations(name: String) {
        let original = Fixtures.bytes(name)
        var reached = 0
        for seed in 0..<120 {
            var random = TestRandom(seed: UInt64(seed) + 5000)
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let at = Int.random(in: Fixtures.handshakeLength..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.remove(at: at)
                default: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 9)], at: at)
                }
            }
            if !Self.run(bytes, random: &random).events.isEmpty { reached += 1 }
        }
        #expect(reached > 60, "more than half of the mutated captures cause an event")
    }

    @Test("an RTMP capture truncated at 60 random places does not trap and is not an error", arguments: Fixtures.names)
    func truncations(name: String) {
        let original = Fixtures.bytes(name)
        var random = TestRandom(seed: 3)
        for _ in 0..<60 {
            let end = Int.random(in: 0...original.count, using: &random)
            let harness = Self.run(Array(original[..<end]), random: &random)
            #expect(harness.closeReason == nil, "truncation alone is not an error")
        }
    }

    @Test("random FLV tags do not trap, and their packets are not empty and lie in their memory", arguments: 0..<300)
    func tags(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        var demuxer = FLVDemuxer()
        var items: [SourceItem] = []
        for _ in 0..<50 {
            let count = Int.random(in: 0...60, using: &random)
            var body = (0..<count).map { _ in
                [0, 1, 4, 0xFF, 0x67, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            let isVideo = Bool.random(using: &random)
            if !body.isEmpty { body[0] = isVideo ? 0x17 : [0xAF, 0x2F].randomElement(using: &random) ?? 0xAF }
            let media = RTMPMediaMessage(
                kind: isVideo ? .video : .audio, timestamp: UInt32.random(in: 0...UInt32.max, using: &random),
                payload: PacketMemory(body))
            demuxer.receive(media, arrival: 0, into: &items)
        }
        for case .packet(let packet) in items {
            #expect(packet.range.lowerBound >= 0 && packet.range.upperBound <= packet.memory.count)
            #expect(!packet.range.isEmpty, "an empty packet would drain a decoder")
        }
    }
}
