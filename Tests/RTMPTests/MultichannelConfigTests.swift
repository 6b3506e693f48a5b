import MediaTypes
import RTMP
import Testing

@Suite("Channel layouts: Enhanced RTMP v2, MultichannelConfig")
struct MultichannelConfigTests {
    private static func run() -> FLVDemuxerTests.Run {
        FLVDemuxerTests.Run(demuxer: FLVDemuxer(codecs: [.h264, .aac, .opus]))
    }

    private static func config(_ bytes: [UInt8], codec: String = "Opus") -> [UInt8] {
        EnhancedBytes.single(.audio, 4, codec, bytes)
    }

    @Test("a channel layout is read as unspecified, as a channel mask, or as a list of channels")
    func forms() {
        #expect(MultichannelConfig.read([0, 6])?.isUnspecified == true)
        #expect(MultichannelConfig.read([0, 6])?.speakers.count == 6)
        #expect(
            MultichannelConfig.read([1, 6, 0, 0, 0, 0x3F])?.speakers == [
                .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight,
            ])
        #expect(MultichannelConfig.read([1, 1, 0, 0x80, 0, 0])?.speakers == [.bottomFrontRight])
        #expect(
            MultichannelConfig.read([2, 4, 1, 0, 0xFE, 0xFF, 9, 9])?.speakers == [.frontRight, .frontLeft, nil, nil],
            "what follows is for a later version")
    }

    @Test(
        "an invalid MultichannelConfig is counted and changes nothing",
        arguments: [
            [], [0], [1], [0, 0], [0, 9], [0, 255], [3, 2], [255, 255], [1, 2], [1, 2, 0, 0, 0], [1, 3, 0, 0, 0, 3],
            [1, 0, 0, 0, 0, 0], [1, 32, 255, 255, 255, 255], [1, 1, 1, 0, 0, 0], [1, 9, 0, 0, 1, 255], [2, 3, 0, 1],
            [2, 2, 0, 0], [2, 1, 24], [2, 0], [2, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8],
        ] as [[UInt8]])
    func hostile(bytes: [UInt8]) {
        #expect(MultichannelConfig.read(bytes) == nil)
        var run = Self.run()
        run.audio(EnhancedBytes.single(.audio, 0, "Opus", []))
        run.audio(Self.config(bytes))
        run.audio(EnhancedBytes.single(.audio, 1, "Opus", [0xFC, 1]))
        #expect(run.configurations == [CodecParameters(codec: .opus, configuration: [])])
        #expect(run.demuxer.counters.badConfigurations == 1)
        #expect(run.payloads == [[0xFC, 1]])
    }

    @Test(
        "Opus of six channels without OpusHead gets one from the layout, sent before or after the empty configuration",
        arguments: [true, false])
    func opusHead(isFirst: Bool) throws {
        let messages = [Self.config([1, 6, 0, 0, 0, 0x3F]), EnhancedBytes.single(.audio, 0, "Opus", [])]
        var run = Self.run()
        for message in isFirst ? messages : messages.reversed() { run.audio(message) }
        let last = try #require(run.configurations.last)
        #expect(run.configurations.count == (isFirst ? 1 : 2))
        #expect(
            last.configuration
                == Array("OpusHead".utf8) + [1, 6, 0x38, 1, 0x80, 0xBB, 0, 0, 0, 0, 1, 4, 2, 0, 4, 1, 2, 3, 5])
        #expect(last.layout == nil, "the head has it")
        run.audio(Self.config([1, 6, 0, 0, 0, 0x3F]))
        run.audio(EnhancedBytes.single(.audio, 0, "Opus", []))
        #expect(run.configurations.count == (isFirst ? 1 : 2), "repeating it changes nothing")
        run.audio(Self.config([0, 2]))
        #expect(run.configurations.last == CodecParameters(codec: .opus, configuration: []))
    }

    @Test(
        "the OpusHead generated for 3 to 8 channels maps each of them once and is accepted as a configuration",
        arguments: 3...8)
    func heads(count: Int) throws {
        let layout = try #require(MultichannelConfig.read([0, UInt8(count)]))
        let head = try #require(MultichannelConfig.opusHead(layout))
        #expect(head.count == 21 + count && head[9] == UInt8(count))
        #expect(head[21...].sorted() == (0..<UInt8(count)).map { $0 })
        #expect(Int(head[19] + head[20]) == count)
        var run = Self.run()
        run.audio(EnhancedBytes.single(.audio, 0, "Opus", head))
        #expect(run.configurations == [CodecParameters(codec: .opus, configuration: head)])
    }

    @Test("a custom channel order is passed to the decoder only if the codec's configuration has no order")
    func custom() throws {
        let swapped = try #require(ChannelLayout([.frontRight, .frontLeft]))
        var run = Self.run()
        run.audio(EnhancedBytes.single(.audio, 0, "Opus", []))
        run.audio(Self.config([2, 2, 1, 0]))
        #expect(run.configurations.map(\.layout) == [nil, swapped])
        // A stream's own description takes precedence.
        run.audio(EnhancedBytes.single(.audio, 0, "mp4a", [0x11, 0x90]))
        run.audio(Self.config([2, 2, 1, 0], codec: "mp4a"))
        #expect(run.configurations.count == 3)
        #expect(run.configurations.last == CodecParameters(codec: .aac, configuration: [0x11, 0x90]))
        // Family 255: channels without a defined position.
        let discrete: [UInt8] =
            Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 255, 2, 0, 0, 1]
        run.audio(EnhancedBytes.single(.audio, 0, "Opus", discrete))
        #expect(run.configurations.last?.layout == swapped)
        #expect(run.configurations.last?.configuration == discrete)
    }

    @Test(
        "channel layouts sent for 255 tracks before their configurations apply to the four audio tracks that are used")
    func tracks() {
        var run = Self.run()
        for track in UInt8(0)..<255 {
            run.audio(EnhancedBytes.one(.audio, 4, "Opus", track: track, [2, 2, 1, 0]))
        }
        for track in UInt8(0)..<6 { run.audio(EnhancedBytes.one(.audio, 0, "Opus", track: track, [])) }
        #expect(run.configurations.map(\.track) == [0, 1, 2, 3])
        #expect(run.configurations.allSatisfy { $0.layout != nil })
        #expect(run.demuxer.counters.badConfigurations == 0)
    }
}
