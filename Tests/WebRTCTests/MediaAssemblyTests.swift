import MediaKernels
import MediaTypes
import TestSupport
import Testing
import WebRTC

@Suite("Media assembly: packets of a track to configurations and coded packets")
struct MediaAssemblyTests {
    private static let idr = H264DepacketizerTests.idr
    private static let inter = H264DepacketizerTests.inter
    private static let key = [TestFrames.sps(), TestFrames.pps(), idr]

    private static func assembly(_ codec: CodecName = .h264, number: UInt8 = 0) throws -> MediaAssembly {
        let isAudio = codec == .opus
        return try #require(
            MediaAssembly(
                track: NegotiatedTrack(
                    mid: "0", kind: isAudio ? .audio : .video, codec: codec, payloadType: 96,
                    clockRate: isAudio ? 48_000 : 90_000), number: number))
    }

    /// The items of packets whose time is their RTP time since the first.
    private static func items(
        _ assembly: inout MediaAssembly, _ packets: [OrderedPacket], rate: Int64 = 90_000
    ) -> [SourceItem] {
        var items: [SourceItem] = []
        for packet in packets {
            let ticks = Int64(packet.timestamp &- 0xFFFF_0000)
            assembly.receive(packet, time: ticks * 1_000_000_000 / rate, into: &items)
        }
        return items
    }

    private static func configurations(_ items: [SourceItem]) -> [CodecParameters] {
        items.compactMap { if case .configuration(let parameters) = $0 { parameters } else { nil } }
    }

    private static func packets(_ items: [SourceItem]) -> [CodedPacket] {
        items.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
    }

    @Test("H.264 packets give a configuration, then frames with their times on a timescale of 90,000")
    func h264() throws {
        var sender = TestSender()
        for units in [Self.key, [Self.inter], Self.key] { sender.send(units) }
        var assembly = try Self.assembly(number: 1)
        let items = Self.items(&assembly, sender.packets)
        guard items.count == 4, case .configuration(let parameters) = items[0] else {
            Issue.record("\(items.count) items")
            return
        }
        #expect(parameters.codec == .h264 && parameters.track == 1 && parameters.orientation == .upright)
        #expect(SequenceParameterSet(record: parameters.configuration)?.width == 1280)
        let packets = Self.packets(items)
        #expect(packets.map(\.pts) == [3000, 6000, 9000] && packets.map(\.dts) == [3000, 6000, 9000])
        #expect(packets.allSatisfy { $0.timescale == 90_000 && $0.track == 1 && $0.kind == .video && $0.duration == 0 })
        #expect(packets.map(\.isKey) == [true, false, true])
        #expect(packets.map(\.arrival) == [65_002_000_000, 65_003_000_000, 65_006_000_000])
        #expect(assembly.size == FrameSize(width: 1280, height: 720))
        #expect(assembly.counters.frames == 3 && assembly.counters.keyFrames == 2)
    }

    @Test(
        "VP8 and VP9 have an empty configuration, which a new frame size does not repeat",
        arguments: [CodecName.vp8, .vp9])
    func vpx(codec: CodecName) throws {
        var random = TestRandom(seed: 1)
        var (vp8, vp9) = (VP8Packetizer(largestPayload: 500), VP9Packetizer(largestPayload: 500))
        var sender = TestSender()
        for width in [480, 640, 640] {
            if codec == .vp8 {
                sender.send(vp8.payloads(TestFrames.vp8(isKey: true, width: width, count: 900, &random)))
            } else {
                sender.send(vp9.payloads(TestFrames.vp9(isKey: true, width: width, count: 900, &random), isKey: true))
            }
        }
        var assembly = try Self.assembly(codec)
        let items = Self.items(&assembly, sender.packets)
        #expect(Self.configurations(items) == [CodecParameters(codec: codec, configuration: [])])
        #expect(Self.packets(items).count == 3)
        #expect(assembly.size == FrameSize(width: 640, height: 360) && assembly.counters.sizeChanges == 1)
    }

    @Test("Opus packets give an empty configuration, then packets with their durations on a timescale of 48,000")
    func opus() throws {
        var sender = TestSender()
        for packet in [[0xFC, 1, 2], [0xFC, 3], [0xF8 | 1, 4, 5]] as [[UInt8]] {
            sender.send([OpusPacketizer.payload(packet)], step: 960)
        }
        // Silence without packets (DTX): a step in time, none in numbers.
        sender.send([OpusPacketizer.payload([0xFC, 6], beginsTalk: true)], step: 19_200)
        var assembly = try Self.assembly(.opus)
        let items = Self.items(&assembly, sender.packets, rate: 48_000)
        #expect(Self.configurations(items) == [CodecParameters(codec: .opus, configuration: [])])
        let packets = Self.packets(items)
        #expect(packets.map(\.pts) == [960, 1920, 2880, 22_080] && packets.map(\.dts) == packets.map(\.pts))
        #expect(packets.map(\.duration) == [960, 960, 1920, 960])
        #expect(packets.allSatisfy { $0.isKey && $0.timescale == 48_000 && $0.kind == .audio })
        #expect(packets[1].memory.bytes == [0xFC, 3])
        #expect(!assembly.needsKeyFrame && assembly.counters.lost == 0)
    }

    @Test("a lost or malformed Opus packet costs no other packet")
    func opusLoss() throws {
        var sender = TestSender()
        for packet in [[0xFC, 1], [0xFC, 2], [0xFB, 0], [0xFC, 4]] as [[UInt8]] {
            sender.send([OpusPacketizer.payload(packet)], step: 960)
        }
        var assembly = try Self.assembly(.opus)
        let items = Self.items(&assembly, sender.packets(without: [1]), rate: 48_000)
        #expect(Self.packets(items).map(\.memory.bytes) == [[0xFC, 1], [0xFC, 4]])
        #expect(assembly.counters.lost == 1 && assembly.counters.malformed == 1)
    }

    @Test("a track with HEVC, AV1 or AAC is refused")
    func otherCodecs() {
        for codec in [CodecName.hevc, .av1, .aac] {
            #expect(
                MediaAssembly(
                    track: NegotiatedTrack(mid: "0", kind: .video, codec: codec, payloadType: 96, clockRate: 90_000))
                    == nil)
        }
    }

    @Test("frames before the first key frame are dropped, and a key frame is requested")
    func start() throws {
        var sender = TestSender()
        for units in [[Self.inter], [Self.inter], Self.key] { sender.send(units) }
        var assembly = try Self.assembly()
        #expect(!assembly.needsKeyFrame, "nothing has arrived")
        #expect(Self.items(&assembly, Array(sender.packets.prefix(2))).isEmpty)
        #expect(assembly.needsKeyFrame && assembly.counters.dropped == 2)
        #expect(Self.items(&assembly, Array(sender.packets.dropFirst(2))).count == 2)
        #expect(!assembly.needsKeyFrame)
        #expect(assembly.counters.lost == 0, "nothing was given out before")
    }

    @Test("no key frame is requested if the first packets begin one")
    func startWithKeyFrame() throws {
        var sender = TestSender()
        sender.send(Self.key)
        var assembly = try Self.assembly()
        for packet in sender.packets {
            _ = Self.items(&assembly, [packet])
            #expect(!assembly.needsKeyFrame)
        }
    }

    @Test("after a loss, no frame is delivered before the next key frame, and one is requested until it begins")
    func loss() throws {
        var sender = TestSender()
        for units in [Self.key, [Self.inter], [Self.inter], [Self.inter], Self.key, [Self.inter]] { sender.send(units) }
        var assembly = try Self.assembly()
        let packets = sender.packets(without: [4])
        var needs: [Bool] = []
        var items: [SourceItem] = []
        for packet in packets {
            items += Self.items(&assembly, [packet])
            needs.append(assembly.needsKeyFrame)
        }
        #expect(needs == [false, false, false, false, true, false, false, false, false])
        #expect(Self.packets(items).map(\.pts) == [3000, 6000, 15_000, 18_000])
        #expect(Self.configurations(items).count == 1, "the same is not repeated")
        #expect(assembly.counters.lost == 1 && assembly.counters.dropped == 1)
    }

    @Test("a new frame size of H.264 gives a new configuration before its key frame")
    func newSize() throws {
        var sender = TestSender()
        sender.send(Self.key)
        sender.send([TestFrames.sps(width: 640, height: 352), TestFrames.pps(), Self.idr])
        var assembly = try Self.assembly()
        let items = Self.items(&assembly, sender.packets)
        let widths = Self.configurations(items).map { SequenceParameterSet(record: $0.configuration)?.width }
        #expect(widths == [1280, 640])
        guard items.count == 4, case .configuration = items[2], case .packet = items[3] else {
            Issue.record("the configuration comes before its frame")
            return
        }
        #expect(assembly.counters.sizeChanges == 1)
    }

    @Test(
        "the byte of the orientation extension gives the rotation and whether the frame is mirrored",
        arguments: [(0, 0, false), (1, 1, false), (2, 2, false), (3, 3, false), (0x0B, 3, false), (0x05, 1, true)]
            as [(UInt8, Int, Bool)])
    func coordination(byte: UInt8, turns: Int, isMirrored: Bool) {
        #expect(
            VideoOrientation(coordination: byte) == VideoOrientation(quarterTurns: turns, isMirrored: isMirrored))
    }

    @Test("a changed orientation gives a new configuration at once, and a key frame is requested")
    func turned() throws {
        var sender = TestSender()
        let packetizer = H264Packetizer(largestPayload: 1200)
        sender.send(packetizer.payloads(Self.key), orientation: 1)
        sender.send(packetizer.payloads([Self.inter]))
        sender.send(packetizer.payloads([Self.inter]), orientation: 0)
        var assembly = try Self.assembly()
        let items = Self.items(&assembly, sender.packets)
        #expect(Self.configurations(items).map(\.orientation.quarterTurns) == [1, 0])
        #expect(Self.packets(items).count == 3)
        #expect(Self.configurations(items)[0].configuration == Self.configurations(items)[1].configuration)
        #expect(assembly.needsKeyFrame)
        sender.send(packetizer.payloads(Self.key))
        #expect(Self.items(&assembly, Array(sender.packets.suffix(1))).count == 1, "the orientation stays")
        #expect(!assembly.needsKeyFrame)
    }

    @Test("frames that are presented before an earlier one have ascending decoding times")
    func reordered() throws {
        var sender = TestSender()
        sender.send(Self.key, step: 3000)
        for step in [9000, UInt32(bitPattern: -6000), 3000, 6000] { sender.send([Self.inter], step: step) }
        var assembly = try Self.assembly()
        let packets = Self.packets(Self.items(&assembly, sender.packets))
        #expect(packets.map(\.pts) == [3000, 12_000, 6000, 9000, 15_000])
        #expect(packets.map(\.dts) == [3000, 12_000, 12_001, 12_002, 15_000])
        // A jump of the time line is no reordering.
        var items: [SourceItem] = []
        sender.send([Self.inter])
        assembly.receive(try #require(sender.packets.last), time: -5_000_000_000, into: &items)
        #expect(Self.packets(items).map(\.dts) == [-450_000])
    }

    @Test(
        "times in nanoseconds give the exact ticks of 90 kHz and 48 kHz, also after a week",
        arguments: [CodecName.h264, .opus])
    func exactTimes(codec: CodecName) throws {
        let rate: Int64 = codec == .opus ? 48_000 : 90_000
        var assembly = try Self.assembly(codec)
        var sender = TestSender()
        sender.send(codec == .opus ? [[0xFC, 1]] : Self.key)
        for ticks in [0, 1, 3003, 7 * 86_400 * rate + 1, 7 * 86_400 * rate + 7] {
            var items: [SourceItem] = []
            let time = TimeMath.rescale(ticks, from: rate, to: 1_000_000_000, rounding: .down)
            for packet in sender.packets { assembly.receive(packet, time: time, into: &items) }
            #expect(Self.packets(items).map(\.pts) == [ticks])
        }
    }
}
