import MediaTypes
import TestSupport
import Testing
import WebRTC

@Suite("VP8 and VP9 depacketizers: RFC 7741, RFC 9628")
struct VPXDepacketizerTests {
    /// Key frame of 640×360 and a frame after it.
    private static let vp8Key: [UInt8] = [0x50, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01, 1, 2, 3]
    private static let vp8Inter: [UInt8] = [0x31, 0, 0, 4, 5]
    private static let vp9Key: [UInt8] = [0x82, 0x49, 0x83, 0x42, 0x40, 0x27, 0xF0, 0x16, 0x78]
    private static let vp9Inter: [UInt8] = [0x86, 1, 2]

    private static func sender(_ frames: [[[UInt8]]]) -> TestSender {
        var sender = TestSender()
        for frame in frames { sender.send(frame) }
        return sender
    }

    @Test("VP8 descriptors as Chromium sends them, with a picture id of 15 bits and with temporal layers, are read")
    func captured() {
        let frames = [
            [[0x90, 0x80, 0xEA, 0x39] + Self.vp8Key.prefix(8), [0x80, 0x80, 0xEA, 0x39] + Self.vp8Key.dropFirst(8)],
            [[0x90, 0xE0, 0xEA, 0x3A, 0x26, 0x20] + Self.vp8Inter],
        ]
        let results = TestResults.vp8(Self.sender(frames).packets)
        #expect(results.frames == [Self.vp8Key, Self.vp8Inter])
        #expect(results.keys == [true, false] && results.sizes == [FrameSize(width: 640, height: 360)])
        #expect(results.damages.isEmpty)
    }

    @Test("the VP8 depacketizer reads all forms of the descriptor")
    func vp8Forms() {
        // None; X without fields; 7-bit id; TL0PICIDX; TID; KEYIDX; all of them; N set.
        for head in [
            [0x10], [0x90, 0], [0x90, 0x80, 0x11], [0x90, 0x40, 7], [0x90, 0x20, 0x40], [0x90, 0x10, 3],
            [0x90, 0xF0, 0x80, 0x11, 7, 0x43], [0x30],
        ] as [[UInt8]] {
            #expect(TestResults.vp8(Self.sender([[head + Self.vp8Key]]).packets).frames == [Self.vp8Key], "\(head)")
        }
    }

    @Test("all forms of the VP9 descriptor are read, the scalability structure included")
    func vp9Forms() {
        // No fields; 7- and 15-bit ids; layers with and without TL0PICIDX; one and three references; structures.
        for head in [
            [0x0C], [0x8C, 0x11], [0x8C, 0x91, 0x22], [0x2C, 0x40, 7], [0x3C, 0x40], [0x5C, 2], [0x5C, 3, 5, 6],
            [0x0E, 0], [0x0E, 0x10, 2, 0x80, 1, 0x68], [0x0E, 0x30, 1, 0x40, 0, 0xB4, 2, 0x80, 1, 0x68],
            [0x0E, 0x08, 2, 0x04, 1, 0x48, 1, 2], [0xAE, 0x91, 0x22, 0x00, 7, 0x18, 2, 0x80, 1, 0x68, 1, 0],
        ] as [[UInt8]] {
            #expect(TestResults.vp9(Self.sender([[head + Self.vp9Key]]).packets).frames == [Self.vp9Key], "\(head)")
        }
        let results = TestResults.vp9(Self.sender([[[0x0C] + Self.vp9Key], [[0x4C] + Self.vp9Inter]]).packets)
        #expect(results.keys == [true, false] && results.sizes == [FrameSize(width: 640, height: 360)])
    }

    @Test(
        "VP8 and VP9 payloads with truncated or invalid descriptors or headers are dropped as malformed",
        arguments: [
            (.vp8, [0x10]), (.vp8, [0x90]), (.vp8, [0x90, 0x80]), (.vp8, [0x90, 0x80, 0x91]), (.vp8, [0x90, 0x40]),
            (.vp8, [0x90, 0x40, 1]), (.vp8, [0x90, 0x20, 1]),
            // Shorter than a frame tag; than a key frame's header; without start code; partition beyond the end; no
            // width.
            (.vp8, [0x10, 1, 0]), (.vp8, [0x10, 0x50, 0, 0, 0x9D, 1, 0x2A, 1, 1, 1]),
            (.vp8, [0x10, 0x50, 0, 0, 0x9D, 1, 0x2B, 1, 1, 1, 1, 1, 1]), (.vp8, [0x10, 0x51, 1, 0, 1, 2]),
            (.vp8, [0x10, 0x10, 0, 0, 0x9D, 1, 0x2A, 0, 0, 1, 1, 1, 1]),
            (.vp9, [0x0C]), (.vp9, [0x8C]), (.vp9, [0x8C, 0x91]), (.vp9, [0x2C]), (.vp9, [0x2C, 0]),
            (.vp9, [0x2C, 0, 7]),
            (.vp9, [0x5C]), (.vp9, [0x5C, 3, 3, 3, 2, 0x86]), (.vp9, [0x0E]), (.vp9, [0x0E, 0x10, 1, 2, 3]),
            (.vp9, [0x0E, 0x08]), (.vp9, [0x0E, 0x08, 2, 0x0C, 1, 1]), (.vp9, [0x0E, 0x18, 2, 0x80, 1, 0x68]),
            // No frame marker; key frames without sync code or size.
            (.vp9, [0x0C, 0x42]), (.vp9, [0x0C, 0x82, 0x49, 0x83]),
            (.vp9, [0x0C, 0x82, 0x49, 0x83, 0x43, 0, 0, 0, 0, 0]),
            (.vp9, [0x0C, 0x82, 0x49, 0x83, 0x42, 0x40, 0x27]),
        ] as [(CodecName, [UInt8])])
    func malformed(codec: CodecName, payload: [UInt8]) {
        let (key, head): ([UInt8], UInt8) = codec == .vp8 ? (Self.vp8Key, 0x10) : (Self.vp9Key, 0x0C)
        let packets = Self.sender([[[head] + key], [payload], [[head] + key]]).packets
        let results = codec == .vp8 ? TestResults.vp8(packets) : TestResults.vp9(packets)
        #expect(results.frames == [key, key] && results.damages == [.malformed])
    }

    @Test("packets lost between frames with consecutive picture ids do not count as a loss: they were bandwidth probes")
    func probes() {
        var random = TestRandom(seed: 9)
        for codec in [CodecName.vp8, .vp9] {
            var vp8 = VP8Packetizer(largestPayload: 300, firstPictureID: 0x7FFE)
            var vp9 = VP9Packetizer(largestPayload: 300, firstPictureID: 0x7FFE)
            var sender = TestSender()
            var probes: Set<Int> = []
            for index in 0..<4 {
                if codec == .vp8 {
                    sender.send(vp8.payloads(TestFrames.vp8(isKey: index == 0, count: 700, &random)))
                } else {
                    sender.send(vp9.payloads(TestFrames.vp9(isKey: index == 0, count: 700, &random), isKey: index == 0))
                }
                probes.insert(sender.packets.count)
                sender.send([RTPPayload(bytes: [0], marker: false)], step: 0)
            }
            let packets = sender.packets(without: probes)
            let results = codec == .vp8 ? TestResults.vp8(packets) : TestResults.vp9(packets)
            #expect(results.frames.count == 4 && results.damages.isEmpty, "\(codec)")
            // With a frame missing, the ids say so.
            let gap = sender.packets(without: probes.union([4, 5, 6]))
            let damaged = codec == .vp8 ? TestResults.vp8(gap) : TestResults.vp9(gap)
            #expect(damaged.order == [1, 0, 1, 1], "\(codec)")
        }
    }

    @Test("without consecutive picture ids, packets lost between frames count as a loss")
    func noPictureID() {
        let sender = Self.sender([[[0x10] + Self.vp8Key], [[0x10, 1, 0]], [[0x10] + Self.vp8Inter]])
        #expect(TestResults.vp8(sender.packets(without: [1])).order == [1, 0, 1])
        // Ids of different lengths do not belong together.
        let other = Self.sender([
            [[0x90, 0x80, 0x10] + Self.vp8Key], [[0x10, 1, 0]], [[0x90, 0x80, 0x80, 0x11] + Self.vp8Inter],
        ])
        #expect(TestResults.vp8(other.packets(without: [1])).order == [1, 0, 1])
    }

    @Test("of VP9 spatial layers only the base layer is delivered, also if packets of the others are lost")
    func spatialLayers() {
        // I, L, F, B, E; the marker is in the highest layer.
        func layer(_ id: UInt8, _ spatial: UInt8, begins: Bool, ends: Bool, _ bytes: [UInt8]) -> [UInt8] {
            [0xB0 | (begins ? 8 : 0) | (ends ? 4 : 0), id, spatial << 1] + bytes
        }
        var sender = TestSender()
        for id in 1...3 as ClosedRange<UInt8> {
            let base = id == 1 ? Self.vp9Key : Self.vp9Inter
            sender.send([
                layer(id, 0, begins: true, ends: false, Array(base.prefix(2))),
                layer(id, 0, begins: false, ends: true, Array(base.dropFirst(2))),
                layer(id, 1, begins: true, ends: true, [0x86, 9]), layer(id, 2, begins: true, ends: true, [0x86, 9]),
            ])
        }
        let whole = [Self.vp9Key, Self.vp9Inter, Self.vp9Inter]
        #expect(TestResults.vp9(sender.packets).frames == whole)
        for lost in [[6], [7], [6, 7], [2, 7, 10]] as [Set<Int>] {
            let results = TestResults.vp9(sender.packets(without: lost))
            #expect(results.frames == whole && results.damages.isEmpty, "\(lost)")
        }
        #expect(TestResults.vp9(sender.packets(without: [5])).order.prefix(2) == [1, 0])
        #expect(TestResults.vp9(sender.packets(without: [5])).frames == [Self.vp9Key, Self.vp9Inter])
        #expect(TestResults.vp9(sender.packets(without: [4])).frames == [Self.vp9Key, Self.vp9Inter])
    }

    @Test("the beginning of a VP9 key frame is recognized, and no longer after a lost packet")
    func receivingKeyFrame() {
        var random = TestRandom(seed: 5)
        var packetizer = VP9Packetizer(largestPayload: 100)
        var sender = TestSender()
        sender.send(packetizer.payloads(TestFrames.vp9(isKey: true, count: 150, &random), isKey: true))
        var depacketizer = VP9Depacketizer()
        #expect(!depacketizer.isReceivingKeyFrame)
        _ = TestResults(Array(sender.packets.prefix(1)), &depacketizer)
        #expect(depacketizer.isReceivingKeyFrame)
        _ = TestResults([sender.packets[1].afterLoss], &depacketizer)
        #expect(!depacketizer.isReceivingKeyFrame)
    }
}
