import HLS
import MediaKernels
import MediaTypes
import Testing

@Suite("Closed captions in coded frames")
struct CaptionTests {
    private static let slice: [UInt8] = [0, 0, 0, 2, 0x65, 0x88]

    private static func packet(_ frame: Int64, _ bytes: [UInt8] = Self.slice) -> CodedPacket {
        CodedPacket(
            kind: .video, memory: PacketMemory(bytes), pts: frame, dts: frame, timescale: 30, isKey: frame == 0)
    }

    private static func read(_ packet: CodedPacket, isHEVC: Bool = false) -> [CaptionPair] {
        CaptionPair.read(packet.memory, in: packet.range, isHEVC: isHEVC)
    }

    private static let pairs = [
        CaptionPair(.field1, 0x94, 0x20), CaptionPair(.field2, 0, 0), CaptionPair(.start, 0, 0),
        CaptionPair(.continuation, 0, 1),
    ]

    @Test("a frame carries its caption pairs in an SEI unit, and each pair is sent once")
    func roundTrip() {
        var cues = PendingFrameMetadata()
        cues.add(captions: Self.pairs, at: 0)
        let carried = cues.carrying(Self.packet(0), fps: 30, step: 1)
        #expect(Self.read(carried) == Self.pairs)
        #expect(Self.read(cues.carrying(Self.packet(1), fps: 30, step: 1)).isEmpty, "each is sent once")
    }

    @Test("caption pairs marked as not valid, other SEI messages and messages that end early are not read")
    func invalid() {
        func read(_ payload: [UInt8]) -> [CaptionPair] {
            let unit: [UInt8] = [6, 4, UInt8(payload.count)] + payload + [0x80]
            return Self.read(Self.packet(0, [0, 0, 0, UInt8(unit.count)] + unit + Self.slice))
        }
        let good = CaptionMessage.payload([Self.pairs[0]])
        #expect(read(good) == [Self.pairs[0]])
        for (place, value) in [(0, UInt8(0xB4)), (2, 0x32), (7, 4), (8, 0x01), (10, 0xF8)] {
            var bad = good
            bad[place] = value
            #expect(read(bad).isEmpty, "byte \(place)")
        }
        for count in 0..<13 { #expect(read(Array(good.prefix(count))).isEmpty) }
        // A count that is larger than the message.
        var long = good
        long[8] = 0x5F
        #expect(read(long).first == Self.pairs[0])
    }

    @Test("caption pairs that do not fit into one SEI message get a second one in the same SEI unit")
    func manyPairs() {
        var cues = PendingFrameMetadata()
        let many = (0..<20).map { CaptionPair($0 == 0 ? .start : .continuation, UInt8($0), 1) }
        for frame in Int64(1)...2 { cues.add(captions: many, at: frame) }
        #expect(Self.read(cues.carrying(Self.packet(2), fps: 30, step: 2)) == many + many)
    }

    @Test("of 1,000 SEI messages with captions in one frame, those beyond the limit of pairs per frame are ignored")
    func flood() {
        let payload = CaptionMessage.payload([CaptionPair](repeating: Self.pairs[0], count: 31))
        let unit: [UInt8] = [6, 4, UInt8(payload.count)] + payload + [0x80]
        let units = [[UInt8]](repeating: [0, 0, 0, UInt8(unit.count)] + unit, count: 1_000)
        let count = Self.read(Self.packet(0, units.flatMap { $0 } + Self.slice)).count
        #expect((CaptionPair.mostPerFrame..<CaptionPair.mostPerFrame + 31).contains(count))
    }

    @Test("caption pairs of HEVC are read from prefix SEI units")
    func hevc() {
        let payload = CaptionMessage.payload([Self.pairs[0]])
        let unit: [UInt8] = [0x4E, 1, 4, UInt8(payload.count)] + payload + [0x80]
        let bytes = [0, 0, 0, UInt8(unit.count)] + unit + [0, 0, 0, 3, 0x26, 1, 0x88]
        #expect(Self.read(Self.packet(0, bytes), isHEVC: true) == [Self.pairs[0]])
        #expect(Self.read(Self.packet(0, [0, 0, 0, 1, 0x4E] + Self.slice), isHEVC: true).isEmpty)
    }

    @Test("at half the frame rate, a frame carries the caption pairs of two program frames, CEA-608 first")
    func halfRate() {
        var cues = PendingFrameMetadata()
        cues.add(captions: [Self.pairs[0], Self.pairs[2]], at: 1)
        cues.add(captions: [Self.pairs[1]], at: 2)
        let carried = cues.carrying(Self.packet(2), fps: 30, step: 2)
        #expect(Self.read(carried) == [Self.pairs[0], Self.pairs[1], Self.pairs[2]])
    }

    @Test("packets that pass through get no caption pairs of the program, and pairs of a lost frame are removed")
    func passed() {
        var cues = PendingFrameMetadata()
        for frame in Int64(0)..<3 { cues.add(captions: [Self.pairs[0]], at: frame) }
        cues.setPassed(true)
        #expect(Self.read(cues.carrying(Self.packet(0), fps: 30, step: 1)).isEmpty)
        cues.setPassed(false)
        #expect(Self.read(cues.carrying(Self.packet(1), fps: 30, step: 1)) == [Self.pairs[0]])
        cues.removeCaptions(at: 2)
        #expect(Self.read(cues.carrying(Self.packet(2), fps: 30, step: 1)).isEmpty)
    }

    @Test("the multivariant playlist lists each caption channel, and only variants with video refer to their group")
    func playlist() {
        var list = MultivariantPlaylist(
            audio: [],
            variants: [
                .init(
                    uri: "v.m3u8", bandwidth: 1, averageBandwidth: 1, codecs: ["avc1.42c01f"], resolution: (2, 2),
                    frameRateMilli: 30_000, audioGroup: nil),
                .init(
                    uri: "a.m3u8", bandwidth: 1, averageBandwidth: 1, codecs: ["mp4a.40.2"], resolution: nil,
                    frameRateMilli: nil, audioGroup: nil),
            ])
        list.captions = [
            .init(channel: "CC1", name: "English", language: "en"), .init(channel: "CC3", name: "CC3", language: nil),
        ]
        let lines = list.renamed { $0 }.rendered().split(separator: "\n").map(String.init)
        #expect(
            lines[3...4] == [
                "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"cc\",LANGUAGE=\"en\",NAME=\"English\",DEFAULT=YES,AUTOSELECT=YES,INSTREAM-ID=\"CC1\"",
                "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"cc\",NAME=\"CC3\",AUTOSELECT=YES,INSTREAM-ID=\"CC3\"",
            ])
        #expect(lines[5].hasSuffix(",CLOSED-CAPTIONS=\"cc\"") && !lines[7].contains("CLOSED-CAPTIONS"))
        list.version = 3
        #expect(list.rendered().contains("#EXT-X-VERSION:3\n"))
        list.captions.append(.init(channel: "SERVICE1", name: "SERVICE1", language: nil))
        #expect(list.rendered().contains("#EXT-X-VERSION:7\n"), "RFC 8216 §7")
    }
}
