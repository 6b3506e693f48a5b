import MediaKernels
import MediaTypes
import TestSupport
import Testing
import WebRTC

@Suite("Packetizers and depacketizers: frames survive, and lost packets never lead to damaged frames")
struct DepacketizerRoundTripTests {
    static let codecs: [CodecName] = [.h264, .vp8, .vp9]

    /// A frame as the assembly should give it out.
    struct Frame: Hashable {
        let bytes: [UInt8]
        let isKey: Bool
    }

    /// Some groups of frames, random in size, as frames and packets. `owners` has the frame of each packet.
    static func stream(
        _ codec: CodecName, seed: UInt64, groups: Int = 3
    ) -> (frames: [Frame], sender: TestSender, owners: [Int]) {
        var random = TestRandom(seed: seed)
        let largest = [16, 60, 300, 1200].randomElement(using: &random) ?? 1200
        let h264 = H264Packetizer(largestPayload: largest)
        var vp8 = VP8Packetizer(largestPayload: largest, firstPictureID: 0x7FFD)
        var vp9 = VP9Packetizer(largestPayload: largest, firstPictureID: 0x7FFD)
        var (frames, sender, owners): ([Frame], TestSender, [Int]) = ([], TestSender(), [])
        for _ in 0..<groups {
            for index in 0..<(2 + Int.random(in: 0..<4, using: &random)) {
                let isKey = index == 0
                let count = Int.random(in: 0..<largest * 4, using: &random)
                let payloads: [RTPPayload]
                switch codec {
                case .h264:
                    var slices = [TestFrames.slice(isIDR: isKey, count: count, &random)]
                    for more in 0..<Int.random(in: 0..<3, using: &random) {
                        let first = UInt32(more + 1) * 100
                        slices.append(
                            TestFrames.slice(isIDR: isKey, firstMacroblock: first, count: count / 3, &random))
                    }
                    let sets = isKey ? [TestFrames.sps(), TestFrames.pps()] : []
                    payloads = h264.payloads(sets + slices)
                    frames.append(Frame(bytes: TestFrames.lengthPrefixed(slices), isKey: isKey))
                case .vp8:
                    let frame = TestFrames.vp8(isKey: isKey, count: count, &random)
                    payloads = vp8.payloads(frame)
                    frames.append(Frame(bytes: frame, isKey: isKey))
                default:
                    let frame = TestFrames.vp9(isKey: isKey, count: count, &random)
                    payloads = vp9.payloads(frame, isKey: isKey)
                    frames.append(Frame(bytes: frame, isKey: isKey))
                }
                #expect(payloads.allSatisfy { 1...largest ~= $0.bytes.count })
                owners += [Int](repeating: frames.count - 1, count: payloads.count)
                sender.send(payloads)
            }
        }
        return (frames, sender, owners)
    }

    static func assemble(_ codec: CodecName, _ packets: [OrderedPacket]) throws -> [Frame] {
        let track = NegotiatedTrack(mid: "0", kind: .video, codec: codec, payloadType: 96, clockRate: 90_000)
        var assembly = try #require(MediaAssembly(track: track))
        var items: [SourceItem] = []
        for packet in packets { assembly.receive(packet, time: Int64(packet.sequence) * 1_000_000, into: &items) }
        return items.compactMap { item in
            guard case .packet(let packet) = item else { return nil }
            return Frame(bytes: packet.memory.bytes(in: packet.range), isKey: packet.isKey)
        }
    }

    @Test(
        "random frames are the same after a packetizer and a depacketizer, with payload limits from 16 to 1,200 bytes",
        arguments: codecs)
    func identity(codec: CodecName) throws {
        for seed in 0..<40 {
            let (frames, sender, _) = Self.stream(codec, seed: UInt64(seed))
            #expect(try Self.assemble(codec, sender.packets) == frames, "seed \(seed)")
            // A sender that does not mark the last packet of a frame: the next frame ends it.
            let unmarked = sender.packets.map { $0.changed(marker: false) }
            #expect(try Self.assemble(codec, unmarked) == (codec == .vp9 ? frames : frames.dropLast()), "seed \(seed)")
        }
    }

    @Test(
        "each single lost packet costs its frame and those up to the next key frame, and nothing else",
        arguments: codecs)
    func singleLoss(codec: CodecName) throws {
        var tried = 0
        for seed in 0..<8 {
            let (frames, sender, owners) = Self.stream(codec, seed: UInt64(100 + seed), groups: 2)
            for lost in sender.packets.indices {
                let lostFrame = owners[lost]
                let next = frames.indices.first { $0 > lostFrame && frames[$0].isKey } ?? frames.count
                let expected = Array(frames[..<lostFrame] + frames[next...])
                #expect(
                    try Self.assemble(codec, sender.packets(without: [lost])) == expected,
                    "seed \(seed), packet \(lost)")
                tried += 1
            }
        }
        #expect(tried > 100)
    }

    @Test(
        "for random losses, only complete frames are delivered, each after the one before it or as a key frame",
        arguments: codecs)
    func randomLoss(codec: CodecName) throws {
        for seed in 0..<150 {
            let (frames, sender, owners) = Self.stream(codec, seed: UInt64(1000 + seed))
            var random = TestRandom(seed: UInt64(seed))
            let lost = Set(sender.packets.indices.filter { _ in Int.random(in: 0..<10, using: &random) == 0 })
            let damaged = Set(lost.map { owners[$0] })
            var expected: [Frame] = []
            var isWaiting = true
            for (index, frame) in frames.enumerated() {
                if damaged.contains(index) { isWaiting = true } else if frame.isKey { isWaiting = false }
                if !isWaiting { expected.append(frame) }
            }
            #expect(try Self.assemble(codec, sender.packets(without: lost)) == expected, "seed \(seed)")
        }
    }

    @Test("in packetization mode 0, each NAL unit is a packet of its own")
    func modeZero() {
        var random = TestRandom(seed: 1)
        let slice = TestFrames.slice(isIDR: true, count: 3000, &random)
        let units = [TestFrames.sps(), TestFrames.pps(), slice]
        let payloads = H264Packetizer(largestPayload: 1200, isModeOne: false).payloads(units)
        #expect(payloads.map(\.bytes) == units)
        #expect(payloads.map(\.marker) == [false, false, true])
        var sender = TestSender()
        sender.send(payloads)
        #expect(TestResults.h264(sender.packets).frames == [TestFrames.lengthPrefixed([slice])])
    }

    @Test("the payload of an Opus packet is the packet itself")
    func opus() {
        #expect(OpusPacketizer.payload([0xFC, 1, 2]) == RTPPayload(bytes: [0xFC, 1, 2], marker: false))
    }
}
