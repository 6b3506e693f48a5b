import MediaKernels
import MediaTypes
import RTMP
import Testing

@Suite("Older audio codecs in FLV: Video File Format 10.1 Annex E.4.2.1")
struct PlainAudioTests {
    private static let all: Set<CodecName> = [.g711a, .g711u, .pcmS16, .pcmU8, .adpcm, .nellymoser, .speex]

    private static func run(_ codecs: Set<CodecName>, _ first: UInt8) -> FLVDemuxerTests.Run {
        var run = FLVDemuxerTests.Run(demuxer: FLVDemuxer(codecs: codecs))
        run.audio([first, 1, 2, 3], at: 5)
        run.audio([first], at: 6)
        run.audio([first, 4], at: 7)
        return run
    }

    @Test(
        "codec, sample rate and channels of older audio codecs follow from the FLV tag's first byte",
        arguments: [
            (0x72, .g711a, 8_000, 1), (0x73, .g711a, 8_000, 2), (0x82, .g711u, 8_000, 1), (0x3F, .pcmS16, 44_100, 2),
            (0x0F, .pcmS16, 44_100, 2), (0x08, .pcmU8, 22_050, 1), (0x1A, .adpcm, 22_050, 1),
            (0x42, .nellymoser, 16_000, 1), (0x52, .nellymoser, 8_000, 1), (0x6A, .nellymoser, 22_050, 1),
            (0xB6, .speex, 16_000, 1),
        ] as [(UInt8, CodecName, Int, Int)])
    func parameters(first: UInt8, codec: CodecName, rate: Int, channels: Int) {
        let run = Self.run(Self.all, first)
        #expect(
            run.configurations == [
                CodecParameters(codec: codec, configuration: [], sampleRate: rate, channels: channels)
            ])
        #expect(run.payloads == [[1, 2, 3], [4]])
        #expect(run.packets.map(\.pts) == [5, 7])
        #expect(run.demuxer.counters.empty == 1 && run.demuxer.hasSupportedTrack)
    }

    @Test(
        "a codec (G.711, MP3, AAC or H.264) that is not in the list of allowed ones gives no packet and is named",
        arguments: [0x72, 0x2F, 0xAF] as [UInt8])
    func notListed(first: UInt8) {
        let run = Self.run([.h264], first)
        #expect(run.items.isEmpty && !run.demuxer.hasSupportedTrack)
        #expect(run.demuxer.unsupportedCodec == [0x72: "G.711", 0x2F: "MP3", 0xAF: "AAC"][first])
        var video = FLVDemuxerTests.Run(demuxer: FLVDemuxer(codecs: [.aac]))
        video.video([0x17, 0, 0, 0, 0] + FLVDemuxerTests.record())
        #expect(video.items.isEmpty && video.demuxer.unsupportedCodec == "H.264")
    }

    @Test("a change of codec, rate or channels in the tag's first byte gives a new configuration")
    func change() {
        var run = FLVDemuxerTests.Run(demuxer: FLVDemuxer(codecs: Self.all))
        for (index, first) in ([0x72, 0x72, 0x73, 0x3F] as [UInt8]).enumerated() {
            run.audio([first, UInt8(index)], at: UInt32(index))
        }
        #expect(run.configurations.map(\.channels) == [1, 2, 2])
        #expect(run.configurations.map(\.codec) == [.g711a, .g711a, .pcmS16])
    }
}
