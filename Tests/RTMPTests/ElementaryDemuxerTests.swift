import MediaKernels
import MediaTypes
import RTMP
import Testing

@Suite("Access units from MPEG-TS: ISO/IEC 13818-1 §2.4.3")
struct ElementaryDemuxerTests {
    static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x0D, 0xDA, 0x05, 0x07, 0xE8]
    static let otherSPS: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x05, 0x07, 0xE8]
    static let pps: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

    static func units(_ units: [[UInt8]]) -> PacketMemory {
        PacketMemory(units.flatMap { [0, 0, 0, UInt8($0.count)] + $0 })
    }

    static func picture(
        _ units: [[UInt8]], pts: Int64?, dts: Int64? = nil, codec: CodecName? = .h264, track: UInt8 = 0
    ) -> MPEGTSUnit {
        let types = units.reduce(into: NALTypes()) { $0.formUnion(NALTypes(header: $1[0])) }
        return MPEGTSUnit(
            kind: .video, track: track, codec: codec, codecName: codec?.rawValue ?? "mpeg2video",
            payload: self.units(units), types: types, pts: pts, dts: dts)
    }

    static func key(pts: Int64, dts: Int64? = nil, sps: [UInt8] = Self.sps) -> MPEGTSUnit {
        self.picture([sps, self.pps, [0x65, 0x88]], pts: pts, dts: dts)
    }

    /// 48 kHz stereo LC, `count` bytes after its header.
    static func aac(pts: Int64?, track: UInt8 = 0, count: Int = 10) -> MPEGTSUnit {
        let length = 7 + count
        let header: [UInt8] = [
            0xFF, 0xF1, 0x4C, 0x80, UInt8(length >> 3), UInt8((length & 7) << 5 | 0x1F), 0xFC,
        ]
        return MPEGTSUnit(
            kind: .audio, track: track, codec: .aac, codecName: "aac",
            payload: PacketMemory(header + [UInt8](repeating: 0x21, count: count)), pts: pts, dts: nil)
    }

    static func items(
        _ units: [MPEGTSUnit], _ demuxer: inout ElementaryDemuxer
    ) -> (configurations: [CodecParameters], packets: [CodedPacket]) {
        var items: [SourceItem] = []
        for unit in units { demuxer.receive(unit, arrival: 5, into: &items) }
        return (
            items.compactMap { if case .configuration(let parameters) = $0 { parameters } else { nil } },
            items.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
        )
    }

    @Test("parameter sets in MPEG-TS give the configuration once; frames before them are dropped")
    func configuration() {
        var demuxer = ElementaryDemuxer()
        let (configurations, packets) = Self.items(
            [
                Self.picture([[0x41, 1]], pts: 100), Self.key(pts: 3_100, dts: 100),
                Self.picture([[0x41, 1]], pts: 6_100),
                Self.key(pts: 9_100),
            ], &demuxer)
        #expect(configurations.map(\.codec) == [.h264])
        #expect(AVCRecord(record: configurations[0].configuration)?.sequenceParameterSets == [Self.sps])
        #expect(packets.map(\.isKey) == [true, false, true])
        #expect(packets.map(\.pts) == [3_100, 6_100, 9_100] && packets[0].dts == 100)
        #expect(packets.allSatisfy { $0.timescale == 90_000 && $0.arrival == 5 })
        #expect(demuxer.counters.beforeConfiguration == 1)
    }

    @Test(
        "changed parameter sets at a key frame give a second configuration before that frame, and repeated ones do not")
    func change() {
        var demuxer = ElementaryDemuxer()
        var items: [SourceItem] = []
        for unit in [
            Self.key(pts: 0), Self.key(pts: 3_000, sps: Self.otherSPS), Self.key(pts: 6_000, sps: Self.otherSPS),
        ] {
            demuxer.receive(unit, arrival: 5, into: &items)
        }
        let order = items.map { item -> String in
            switch item {
            case .configuration(let parameters):
                let sets = AVCRecord(record: parameters.configuration)?.sequenceParameterSets
                return sets == [Self.sps] ? "first" : sets == [Self.otherSPS] ? "second" : "neither"
            case .packet(let packet): return "\(packet.pts)"
            case .end: return "end"
            }
        }
        #expect(order == ["first", "0", "second", "3000", "6000"])
    }

    @Test("a frame with an exact recovery point at itself is a key frame, one that starts a gradual refresh is not")
    func openGOP() {
        let atOnce: [UInt8] = [0x06, 1, 2, 0, 0, 6, 1, 0xC4, 0x80]
        let later: [UInt8] = [0x06, 6, 2, 0x26, 0x40, 0x80]
        let endless: [UInt8] = [0x06, 6, 255, 255]
        var demuxer = ElementaryDemuxer()
        let (configurations, packets) = Self.items(
            [
                Self.picture([Self.sps, Self.pps, atOnce, [0x41, 1]], pts: 0), Self.picture([[0x41, 1]], pts: 3_000),
                Self.picture([later, [0x41, 1]], pts: 6_000), Self.picture([endless, [0x41, 1]], pts: 9_000),
                Self.picture([[0x41, 1], atOnce], pts: 12_000), Self.picture([atOnce, [0x41, 1]], pts: 15_000),
            ], &demuxer)
        #expect(configurations.count == 1)
        #expect(packets.map(\.isKey) == [true, false, false, false, false, true])
        var run = FLVDemuxerTests.Run()
        run.video([0x17, 0, 0, 0, 0] + FLVDemuxerTests.record())
        for sei in [atOnce, later] { run.video([0x27, 1, 0, 0, 0] + FLVDemuxerTests.avcc(sei, [0x41, 1])) }
        #expect(run.packets.map(\.isKey) == [true, false])
    }

    @Test("33-bit timestamps are unwrapped for audio and video together, also if a frame's pts wraps before its dts")
    func wrap() {
        let end: Int64 = 1 << 33
        var demuxer = ElementaryDemuxer()
        let (_, packets) = Self.items(
            [
                Self.key(pts: end - 6_000), Self.aac(pts: end - 5_000),
                Self.picture([[0x41, 1]], pts: 0, dts: end - 3_000),
                Self.aac(pts: 1_000), Self.picture([[0x41, 1]], pts: 3_000, dts: 0), Self.aac(pts: end - 500),
            ], &demuxer)
        #expect(packets.map(\.pts) == [end - 6_000, end - 5_000, end, end + 1_000, end + 3_000, end - 500])
        #expect(packets[2].dts == end - 3_000 && packets[4].dts == end)
    }

    @Test("AAC frames of one PES packet get timestamps one frame duration apart")
    func sharedTime() {
        var demuxer = ElementaryDemuxer()
        let (configurations, packets) = Self.items(
            [Self.aac(pts: 1_000), Self.aac(pts: nil), Self.aac(pts: nil), Self.aac(pts: 6_760)], &demuxer)
        #expect(configurations == [CodecParameters(codec: .aac, configuration: [0x11, 0x90])])
        #expect(packets.map(\.pts) == [1_000, 2_920, 4_840, 6_760])
        #expect(packets.allSatisfy { $0.count == 10 }, "without the ADTS header")
    }

    @Test("MPEG-TS audio tracks keep their numbers; those after the fourth, and a second video track, are ignored")
    func tracks() {
        var demuxer = ElementaryDemuxer()
        let (configurations, packets) = Self.items(
            (0..<6).map { Self.aac(pts: 0, track: $0) } + [Self.picture([[0x41, 1]], pts: 0, track: 1)], &demuxer)
        #expect(configurations.map(\.track) == [0, 1, 2, 3] && packets.map(\.track) == [0, 1, 2, 3])
        #expect(demuxer.counters.extraTracks == 3)
    }

    @Test("a video PES packet without timestamp, such as a second field, gets its predecessor's timestamps")
    func fields() {
        var demuxer = ElementaryDemuxer()
        let (_, packets) = Self.items(
            [
                Self.picture([Self.sps, Self.pps, [0x65, 1]], pts: nil), Self.key(pts: 7_200, dts: 3_600),
                Self.picture([[0x41, 1]], pts: nil), Self.picture([[0x41, 2]], pts: 14_400, dts: 7_200),
                Self.picture([[0x41, 3]], pts: nil),
            ], &demuxer)
        #expect(packets.map(\.pts) == [7_200, 7_200, 14_400, 14_400])
        #expect(packets.map(\.dts) == [3_600, 3_600, 7_200, 7_200])
        #expect(demuxer.counters.malformed == 1, "before the first timestamp there is none")
    }

    private static let hevcSPS: [UInt8] = [
        0x42, 1, 1, 1, 0x60, 1, 1, 1, 0x90, 1, 1, 1, 1, 1, 0x5D, 0xA0, 0x20, 0x81, 0x07,
    ]

    /// One frame of 128 kbit/s at 44.1 kHz.
    private static let mp3: [UInt8] = [0xFF, 0xFB, 0x90, 0] + [UInt8](repeating: 0, count: 413)

    @Test("if a stream's data changes to another codec than declared, this is detected, and all later data is dropped")
    func codecChange() {
        let all: Set<CodecName> = [.h264, .hevc, .aac, .opus]
        let hevc = Self.picture(
            [[0x46, 1, 0x50], [0x40, 1, 0x0C], Self.hevcSPS, [0x44, 1, 0xC0], [0x26, 1, 9]], pts: 3_000)
        var avc = Self.key(pts: 0)
        avc.codec = .hevc
        var opus = Self.aac(pts: 0)
        opus.payload = PacketMemory([0x7F, 0xE0, 3, 0xFC, 1, 2])
        // A packet of 260 bytes with both trim fields and one byte of control extension; then another packet.
        let long: [UInt8] = [0x7F, 0xFC, 0xFF, 5, 0, 9, 0, 9, 1, 8] + Array(repeating: 4, count: 260)
        var many = opus
        many.payload = PacketMemory(long + opus.payload.bytes)
        var aac = Self.aac(pts: 0)
        aac.codec = .opus
        var twice = aac
        twice.payload = PacketMemory(aac.payload.bytes + aac.payload.bytes)
        var layer3 = Self.aac(pts: 0)
        layer3.payload = PacketMemory(Self.mp3)
        var layer3Twice = layer3
        layer3Twice.payload = PacketMemory(Self.mp3 + Self.mp3)
        let changes: [(MPEGTSUnit, CodecName)] = [
            (hevc, .hevc), (avc, .h264), (opus, .opus), (many, .opus), (aac, .aac), (twice, .aac), (layer3, .mp3),
            (layer3Twice, .mp3),
        ]
        for (unit, codec) in changes {
            var demuxer = ElementaryDemuxer(codecs: all)
            let before = Self.items([Self.key(pts: 0), Self.aac(pts: 0)], &demuxer)
            #expect(before.packets.count == 2 && demuxer.changedCodec == nil)
            let after = Self.items([unit, Self.picture([[0x41, 1]], pts: 6_000)], &demuxer)
            #expect(demuxer.changedCodec == codec)
            #expect(after.configurations.isEmpty && after.packets.isEmpty)
        }
    }

    @Test("data that only resembles the start of another codec is not detected as a codec change")
    func noCodecChange() {
        var demuxer = ElementaryDemuxer(codecs: [.h264, .hevc, .aac, .opus])
        var opus = Self.aac(pts: 0)
        opus.codec = .opus
        opus.payload = PacketMemory([0xFF, 0xF1, 1, 2, 3, 4, 5, 6, 7, 8])
        // The rest of a damaged frame.
        var rest = Self.aac(pts: 0)
        rest.payload = PacketMemory(Array(Self.mp3.dropLast()))
        _ = Self.items(
            [
                Self.key(pts: 0), Self.picture([[0x42, 1, 1]], pts: 3_000),
                Self.picture([[0x42] + Self.pps], pts: 6_000),
                Self.picture([[0x67, 1], [0x68, 1]], pts: 0, codec: .hevc), opus, rest, Self.aac(pts: 0),
            ], &demuxer)
        #expect(demuxer.changedCodec == nil)
    }

    @Test(
        "the rest of an AAC frame with its start missing is not mistaken for Opus",
        arguments: [
            [0x7F], [0x7F, 0xE0], [0x7F, 0xE0, 0], [0x7F, 0xE0, 3, 1, 2], [0x7F, 0xE0, 3, 1, 2, 3, 4],
            [0x7F, 0xE0, 0xFF], [0x7F, 0xE0, 1, 9, 0x7F], [0x7F, 0xE0, 1, 9, 0x7F, 0xC0], [0x7F, 0xF4, 1, 0, 0, 9],
            [0x7F, 0xC0, 1, 9],
        ] as [[UInt8]])
    func restOfFrame(bytes: [UInt8]) {
        var demuxer = ElementaryDemuxer(codecs: [.aac, .opus])
        var rest = Self.aac(pts: 0)
        rest.payload = PacketMemory(bytes)
        let after = Self.items([rest, Self.aac(pts: 3_000)], &demuxer)
        #expect(demuxer.changedCodec == nil && demuxer.counters.malformed == 1)
        #expect(after.packets.count == 1, "the next frame is decoded")
    }

    @Test(
        "MPEG-TS units that have an unsupported codec, are too large or lack an ADTS header are dropped and counted")
    func refused() {
        var demuxer = ElementaryDemuxer(maximumBytes: 64)
        var noHeader = Self.aac(pts: 0)
        noHeader.payload = PacketMemory([1, 2, 3])
        let (configurations, packets) = Self.items(
            [
                Self.picture([[0x41, 1]], pts: 0, codec: nil), Self.picture([[0x41, 1]], pts: 0, codec: .hevc),
                Self.aac(pts: 0, count: 100), noHeader, Self.aac(pts: nil), Self.aac(pts: 0),
            ], &demuxer)
        #expect(configurations.count == 1 && packets.count == 1)
        #expect(demuxer.unsupportedCodec == "hevc" && demuxer.unsupportedVideo == "hevc" && demuxer.hasSupportedTrack)
        #expect(demuxer.counters.unsupported == 2 && demuxer.counters.malformed == 3)
    }
}
