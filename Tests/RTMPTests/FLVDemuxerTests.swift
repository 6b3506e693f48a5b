import MediaKernels
import MediaTypes
import RTMP
import Testing

@Suite("FLV demuxer: Video File Format 10.1 Annex E.4.2, E.4.3")
struct FLVDemuxerTests {
    static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x1E, 0x99]
    static let pps: [UInt8] = [0x68, 0xCE, 0x3C]

    static func record(sps: [UInt8] = Self.sps, lengthSize: Int = 4, reserved: Bool = true) -> [UInt8] {
        let first: [UInt8] = [
            1, 0x42, 0xC0, 0x1E, (reserved ? 0xFC : 0) | UInt8(lengthSize - 1), (reserved ? 0xE0 : 0) | 1,
        ]
        return first + [UInt8(sps.count >> 8), UInt8(sps.count & 0xFF)] + sps + [1, 0, UInt8(Self.pps.count)] + Self.pps
    }

    static func avcc(_ units: [UInt8]...) -> [UInt8] {
        units.flatMap { RTMPChunkReaderTests.big(UInt32($0.count)) + $0 }
    }

    /// Feeds tags and stores the results.
    struct Run {
        var demuxer = FLVDemuxer()
        var items: [SourceItem] = []

        mutating func video(_ body: [UInt8], at time: UInt32 = 0) { self.feed(.video, body, time) }
        mutating func audio(_ body: [UInt8], at time: UInt32 = 0) { self.feed(.audio, body, time) }

        mutating func feed(_ kind: RTMPMediaMessage.Kind, _ body: [UInt8], _ time: UInt32) {
            let media = RTMPMediaMessage(kind: kind, timestamp: time, payload: PacketMemory(body))
            self.demuxer.receive(media, arrival: 77, into: &self.items)
        }

        var configurations: [CodecParameters] {
            self.items.compactMap { if case .configuration(let parameters) = $0 { parameters } else { nil } }
        }
        var packets: [CodedPacket] {
            self.items.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
        }
        var payloads: [[UInt8]] { self.packets.map { $0.memory.bytes(in: $0.range) } }
    }

    @Test("a configuration, a key frame and inter frames with composition offsets of either sign are read")
    func video() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.video([0x17, 1, 0, 0, 0x85] + Self.avcc([0x65, 1, 2]), at: 1000)
        run.video([0x27, 1, 0xFF, 0xFF, 0xBE] + Self.avcc([0x41, 9]), at: 1040)
        #expect(run.configurations == [CodecParameters(codec: .h264, configuration: Self.record())])
        #expect(run.packets.map(\.dts) == [1000, 1040])
        #expect(run.packets.map(\.pts) == [1133, 974])
        #expect(run.packets.map(\.isKey) == [true, false])
        #expect(run.payloads == [Self.avcc([0x65, 1, 2]), Self.avcc([0x41, 9])])
        #expect(run.packets.allSatisfy { $0.timescale == 1000 && $0.arrival == 77 && $0.kind == .video })
    }

    @Test("an IDR slice makes an H.264 frame a key frame, the tag's key frame flag does not")
    func keyFrames() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x06, 5], [0x41, 1]))
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x06, 5], [0x65, 1]))
        #expect(run.packets.map(\.isKey) == [false, true])
    }

    @Test("an audio configuration over the size limit is dropped, and the one before stays valid")
    func giantConfigurations() {
        let giant = [0x11, 0x90] + [UInt8](repeating: 1, count: CodecParameters.largestConfiguration)
        let further: [UInt8] = [0x95, 0x00] + Array("mp4a".utf8) + [1]
        var run = Run()
        run.audio([0xAF, 0, 0x12, 0x10])
        run.audio([0xAF, 0] + giant)
        run.audio(further + [0x12, 0x10])
        run.audio(further + giant)
        run.audio([0xAF, 1, 1, 2, 3])
        #expect(run.configurations.map(\.configuration) == [[0x12, 0x10], [0x12, 0x10]])
        #expect(run.demuxer.counters.badConfigurations == 2 && run.packets.count == 1)
    }

    @Test("a video configuration over the size limit is dropped, its NAL unit length size included")
    func giantRecord() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        // A sequence parameter set of 20,000 bytes.
        let giant: [UInt8] = [0x67, 0x64, 0, 0x1F] + [UInt8](repeating: 1, count: 20_000)
        run.video([0x17, 0, 0, 0, 0] + Self.record(sps: giant, lengthSize: 2))
        run.video([0x17, 1, 0, 0, 0, 0, 0, 0, 2, 0x65, 1])
        #expect(run.configurations.map(\.configuration) == [Self.record()])
        #expect(run.demuxer.counters.badConfigurations == 1 && run.packets.count == 1)
    }

    @Test("a configuration is passed on only when it changes, as avcC with four-byte lengths")
    func configurations() {
        var run = Run()
        let other = Self.record(sps: [0x67, 0x64, 0, 0x1F, 1, 2])
        for record in [Self.record(), Self.record(), Self.record(reserved: false), Self.record(lengthSize: 2), other] {
            run.video([0x17, 0, 0, 0, 0] + record)
        }
        #expect(run.configurations.map(\.configuration) == [Self.record(), other])
    }

    @Test("an avcC record truncated to any length is dropped", arguments: 0..<Self.record().count)
    func truncatedRecords(length: Int) {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record().prefix(length))
        #expect(run.items.isEmpty)
        #expect(run.demuxer.counters.badConfigurations + run.demuxer.counters.empty == 1)
    }

    @Test(
        "avcC records of another version, without parameter sets, or with empty ones are dropped",
        arguments: [
            [2, 0x42, 0, 0x1E, 0xFF, 0xE1, 0, 1, 0x67, 1, 0, 1, 0x68], [1, 0x42, 0, 0x1E, 0xFF, 0xE0, 1, 0, 1, 0x68],
            [1, 0x42, 0, 0x1E, 0xFF, 0xE1, 0, 1, 0x67, 0], [1, 0x42, 0, 0x1E, 0xFF, 0xE1, 0, 0, 1, 0, 1, 0x68],
        ] as [[UInt8]])
    func uselessRecords(record: [UInt8]) {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + record)
        #expect(run.items.isEmpty)
    }

    @Test(
        "NAL units with lengths of 1 to 3 bytes, empty units or start codes are converted to four-byte lengths",
        arguments: [
            (4, [0, 0, 0, 0, 0, 0, 0, 2, 0x65, 7]), (2, [0, 2, 0x65, 7]), (1, [2, 0x65, 7]), (3, [0, 0, 2, 0x65, 7]),
            (4, [0, 0, 0, 1, 0x65, 7]), (4, [0, 0, 1, 0x65, 7]), (4, [0, 0, 0, 6, 0, 0, 0, 1, 0x65, 7]),
        ] as [(Int, [UInt8])])
    func sanitized(lengthSize: Int, payload: [UInt8]) {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record(lengthSize: lengthSize))
        run.video([0x17, 1, 0, 0, 0] + payload)
        #expect(run.payloads == [Self.avcc([0x65, 7])])
        #expect(run.packets.first?.isKey == true)
        #expect(run.demuxer.counters.sanitized == 1)
    }

    @Test("FLV tags without a frame give no packet and do not disturb later ones")
    func noFrames() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        for body in [
            [], [0x17], [0x17, 1, 0, 0], [0x57, 0], [0x17, 2, 0, 0, 0], [0x17, 1, 0, 0, 0],
            [0x17, 1, 0, 0, 0, 0, 0, 0, 0], [0x17, 1, 0, 0, 0, 9, 9, 9, 9, 9], [0x17, 0, 0, 0, 0],
        ] as [[UInt8]] { run.video(body, at: 5) }
        #expect(run.packets.isEmpty)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x41, 9]), at: 10)
        #expect(run.packets.map(\.dts) == [10])
        let counters = run.demuxer.counters
        #expect(counters.short == 2 && counters.malformed == 1 && counters.empty == 4)
    }

    @Test("SEI and parameter sets sent as messages of their own are joined to the next frame")
    func aheadOfPictures() {
        var run = Run()
        let sei: [UInt8] = [0x06, 5, 1, 9, 0x80]
        let other: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0x77]
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x09, 0x10]))
        run.video([0x17, 1, 0, 0, 0] + Self.avcc(Self.sps, Self.pps))
        run.video([0x27, 1, 0, 0, 0] + Self.avcc(sei))
        #expect(run.packets.isEmpty && run.demuxer.counters.empty == 1)
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x65, 1]), at: 20)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x41, 1]), at: 40)
        #expect(run.payloads == [Self.avcc(Self.sps, Self.pps, sei, [0x65, 1]), Self.avcc([0x41, 1])])
        #expect(run.packets.map(\.dts) == [20, 40] && run.packets.map(\.isKey) == [true, false])
        #expect(run.configurations.count == 1)
        run.video([0x17, 1, 0, 0, 0] + Self.avcc(other, Self.pps), at: 60)
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x65, 2]), at: 60)
        #expect(run.configurations.count == 2, "a new parameter set is a new configuration here, too")
    }

    @Test("SEI and parameter sets that no frame followed are dropped when the configuration changes")
    func aheadOfAnotherHeader() {
        var run = Run()
        let other = Self.record(sps: [0x67, 0x64, 0, 0x1F, 1, 2])
        let sei: [UInt8] = [0x06, 5, 1, 9, 0x80]
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.video([0x17, 1, 0, 0, 0] + Self.avcc(Self.sps, Self.pps))
        run.video([0x17, 0, 0, 0, 0] + other)
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x65, 1]), at: 20)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc(sei), at: 40)
        run.video([0x17, 0, 0, 0, 0] + other)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x41, 1]), at: 40)
        #expect(run.payloads == [Self.avcc([0x65, 1]), Self.avcc(sei, [0x41, 1])])
        #expect(run.configurations.map(\.configuration) == [Self.record(), other])
    }

    @Test("about 64 kB of NAL units without a frame are kept for the next frame, the rest is dropped")
    func muchAheadOfPictures() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        for _ in 0..<100 { run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x06] + [UInt8](repeating: 1, count: 4_000))) }
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x65, 1]), at: 20)
        #expect(run.packets.count == 1)
        #expect((60_000...66_000).contains(run.packets.first?.count ?? 0))
    }

    @Test("parameter sets that come only in the stream give the configuration; frames before them are dropped")
    func inBandParameterSets() {
        var run = Run()
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x41, 9]))
        run.video([0x17, 1, 0, 0, 0, 0, 0, 0, 1] + Self.sps + [0, 0, 0, 1] + Self.pps + [0, 0, 1, 0x65, 7], at: 40)
        #expect(run.configurations.map(\.configuration) == [Self.record()])
        #expect(run.payloads == [Self.avcc(Self.sps, Self.pps, [0x65, 7])])
        #expect(run.demuxer.counters.beforeConfiguration == 1)
    }

    @Test("changed parameter sets in a frame give a new configuration; the old sequence header again does not")
    func inBandChange() {
        var run = Run()
        let other: [UInt8] = [0x67, 0x42, 0xC0, 0x1F, 0x77]
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.video([0x17, 1, 0, 0, 0] + Self.avcc(Self.sps, Self.pps, [0x65, 1]), at: 0)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc(other, Self.pps, [0x41, 1]), at: 40)
        run.video([0x17, 1, 0, 0, 0] + Self.avcc(other, Self.pps, [0x65, 1]), at: 80)
        run.video([0x17, 0, 0, 0, 0] + Self.record(), at: 80)
        run.video([0x17, 1, 0, 0, 0] + Self.avcc(other, Self.pps, [0x65, 1]), at: 120)
        let changed = [1, 0x42, 0xC0, 0x1F, 0xFF, 0xE1, 0, 5] + other + [1, 0, UInt8(Self.pps.count)] + Self.pps
        #expect(run.configurations.map(\.configuration) == [Self.record(), changed])
        #expect(run.packets.map(\.isKey) == [true, false, true, true])
    }

    @Test("a video command or end of sequence in mid-stream gives no packet, and frames continue")
    func commandsInMidStream() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x65, 1]), at: 0)
        run.video([0x57, 0], at: 20)
        run.video([0x17, 2, 0, 0, 0], at: 30)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x41, 1]), at: 40)
        #expect(run.configurations.count == 1 && run.packets.map(\.dts) == [0, 40])
    }

    @Test("a second AAC configuration in mid-stream is passed on once")
    func audioChange() {
        var run = Run()
        for (index, body) in [
            [0xAF, 0, 0x12, 0x10], [0xAF, 1, 1], [0xAF, 0], [0xAF, 0, 0x11, 0x88], [0xAF, 1, 2],
            [0xAF, 0, 0x11, 0x88],
        ].enumerated() { run.audio(body.map { UInt8($0) }, at: UInt32(index) * 23) }
        #expect(run.configurations.map(\.configuration) == [[0x12, 0x10], [0x11, 0x88]])
        #expect(run.packets.count == 2)
    }

    @Test("composition offsets over 15 minutes are ignored and counted")
    func compositionOffsets() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.video([0x17, 1, 0x0D, 0xBB, 0xA0] + Self.avcc([0x65]))
        run.video([0x17, 1, 0x0D, 0xBB, 0xA1] + Self.avcc([0x65]))
        run.video([0x17, 1, 0x80, 0, 0] + Self.avcc([0x65]))
        #expect(run.packets.map(\.pts) == [900_000, 0, 0])
        #expect(run.demuxer.counters.badCompositionOffsets == 2)
    }

    @Test("audio and video timestamps are unwrapped together; those of configurations do not count")
    func unwrap() {
        var run = Run()
        run.video([0x17, 0, 0, 0, 0] + Self.record())
        run.audio([0xAF, 0, 0x12, 0x10])
        run.video([0x17, 1, 0, 0, 0] + Self.avcc([0x65]), at: 0xFFFF_FFF0)
        run.audio([0xAF, 1, 1], at: 0x10)
        run.video([0x17, 0, 0, 0, 0] + Self.record(), at: 0)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x41]), at: 0xFFFF_FFFE)
        run.video([0x27, 1, 0, 0, 0] + Self.avcc([0x41]), at: 0x20)
        let wrap: Int64 = 1 << 32
        #expect(run.packets.map(\.dts) == [wrap - 16, wrap + 16, wrap - 2, wrap + 32])
    }

    @Test("AAC configurations and frames are read, ADTS headers removed, and empty or early frames dropped")
    func aac() {
        var run = Run()
        run.audio([0xAF, 1, 1, 2, 3])
        run.audio([0xAF, 0])
        run.audio([0xAF, 0, 0x12])
        run.audio([0xAF, 0, 0x12, 0x08, 0x56, 0xE5, 0x00])
        run.audio([0xAF, 1])
        run.audio([0xAF])
        run.audio([])
        run.audio([0xAF, 1, 0x21, 0x10], at: 23)
        run.audio([0xAF, 1, 0xFF, 0xF1, 0x50, 0x80, 0x01, 0x3F, 0xFC, 0x21, 0x22], at: 46)
        #expect(run.configurations == [CodecParameters(codec: .aac, configuration: [0x12, 0x08, 0x56, 0xE5, 0x00])])
        #expect(run.payloads == [[0x21, 0x10], [0x21, 0x22]])
        #expect(run.packets.map(\.pts) == [23, 46])
        #expect(run.demuxer.counters.badConfigurations == 1)
        #expect(run.demuxer.counters.beforeConfiguration == 1)
    }

    @Test(
        "AAC is read with each channel configuration of seven or eight channels; 22.2 and reserved ones are refused",
        arguments: [
            ([0x11, 0xB8], true), ([0x11, 0xD8], true), ([0x11, 0xE0], true), ([0x11, 0xF0], true),
            ([0x11, 0xC0], false), ([0x11, 0xE8], false), ([0x11, 0xF8], false),
        ] as [([UInt8], Bool)])
    func manyChannels(record: [UInt8], isTaken: Bool) {
        var run = Run()
        run.audio([0xAF, 0] + record)
        run.audio([0xAF, 1, 0x21, 0x10], at: 23)
        #expect(run.configurations == (isTaken ? [CodecParameters(codec: .aac, configuration: record)] : []))
        #expect(run.packets.count == (isTaken ? 1 : 0))
    }

    @Test("AAC with ADTS headers and no configuration gets its configuration from the header")
    func adtsOnly() {
        var run = Run()
        // AAC LC, 48 kHz, stereo, 9 bytes in all.
        run.audio([0xAF, 1, 0xFF, 0xF1, 0x4C, 0x80, 0x01, 0x3F, 0xFC, 0x21, 0x22])
        #expect(run.configurations == [CodecParameters(codec: .aac, configuration: [0x11, 0x90])])
        #expect(run.payloads == [[0x21, 0x22]])
    }

    @Test("MP3 frames are read without a configuration message, and empty ones are dropped")
    func mp3() {
        var run = Run()
        run.audio([0x2E, 0xFF, 0xFB], at: 1)
        run.audio([0x2E])
        run.audio([0x2E, 0xFF, 0xFA], at: 2)
        #expect(run.configurations == [CodecParameters(codec: .mp3, configuration: [])])
        #expect(run.payloads == [[0xFF, 0xFB], [0xFF, 0xFA]])
    }

    @Test(
        "a codec that the demuxer does not support by default gives no packet and is named",
        arguments: [
            (.video, [0x90] + Array("hvc1".utf8) + [1], "hvc1"), (.video, [0x1C, 0, 0, 0, 0], "HEVC"),
            (.video, [0x22, 1], "H.263"),
            (.audio, [0x90] + Array("Opus".utf8), "Opus"), (.audio, [0xB2, 1], "Speex"), (.audio, [0x72, 1], "G.711"),
            (.video, [0x80], "unknown"),
        ] as [(RTMPMediaMessage.Kind, [UInt8], String)])
    func unsupported(kind: RTMPMediaMessage.Kind, body: [UInt8], name: String) {
        var run = Run()
        run.feed(kind, body, 0)
        #expect(run.items.isEmpty)
        #expect(run.demuxer.unsupportedCodec == name)
        #expect(!run.demuxer.hasSupportedTrack)
        run.audio([0xAF, 0, 0x12, 0x10])
        #expect(run.demuxer.hasSupportedTrack)
    }

    @Test("in a capture of a device that is rotated, video and audio each get a second configuration")
    func rotation() {
        var run = Run()
        for message in RTMPCaptureTests.messages("lib_rotation") {
            if message.type == 9 { run.video(message.payload, at: message.timestamp) }
            if message.type == 8 { run.audio(message.payload, at: message.timestamp) }
        }
        #expect(run.configurations.filter { $0.codec == .h264 }.count == 2)
        #expect(
            run.configurations.filter { $0.codec == .aac }.map { Array($0.configuration.prefix(2)) } == [
                [0x12, 0x08], [0x11, 0x90],
            ])
        #expect(run.packets.contains { $0.kind == .video && $0.isKey })
        #expect(run.demuxer.counters.malformed == 0)
    }

    @Test(
        "each capture gives as many packets as media messages other than configurations, and no fault is counted",
        arguments: Fixtures.names)
    func captures(name: String) {
        var run = Run()
        var media = 0
        for message in RTMPCaptureTests.messages(name) where message.type == 8 || message.type == 9 {
            if message.type == 9 {
                run.video(message.payload, at: message.timestamp)
            } else {
                run.audio(message.payload, at: message.timestamp)
            }
            let isHeader = (message.type == 9 || message.payload[0] >> 4 == 10) && message.payload[1] != 1
            if !isHeader { media += 1 }
        }
        #expect(run.packets.count == media)
        #expect(run.demuxer.counters == FLVDemuxer.Counters())
    }
}

@Suite("FLV tags that Tandem's RTMP client writes")
struct FLVTagWriterTests {
    @Test("written H.264 and AAC tags are read back with their payloads, and times rounded to milliseconds")
    func roundTrip() throws {
        var run = FLVDemuxerTests.Run()
        let video = CodecParameters(codec: .h264, configuration: FLVDemuxerTests.record())
        let audio = CodecParameters(codec: .aac, configuration: [0x11, 0x90])
        for parameters in [video, audio] {
            let message = try #require(FLVTagWriter.configuration(parameters))
            run.demuxer.receive(message, arrival: 0, into: &run.items)
        }
        let frame = FLVDemuxerTests.avcc([0x65, 1, 2, 3])
        let packets = [
            CodedPacket(
                kind: .video, memory: PacketMemory([9] + frame), range: 1..<(frame.count + 1), pts: 3000, dts: 6000,
                timescale: 90_000, isKey: true),
            CodedPacket(
                kind: .audio, memory: PacketMemory([1, 2]), pts: 48_000, dts: 48_000, timescale: 48_000, isKey: true),
        ]
        for (packet, codec) in zip(packets, [CodecName.h264, .aac]) {
            let message = try #require(FLVTagWriter.packet(packet, codec: codec))
            run.demuxer.receive(message, arrival: 0, into: &run.items)
        }
        #expect(run.configurations == [video, audio])
        #expect(run.payloads == [frame, [1, 2]])
        #expect(run.packets.map(\.dts) == [67, 1000])
        #expect(run.packets.map(\.pts) == [33, 1000])
        #expect(run.packets[0].isKey)
    }

    @Test("the FLV writer writes no tag for Speex and Nellymoser")
    func noNumber() {
        #expect(FLVTagWriter.configuration(CodecParameters(codec: .speex, configuration: [])) == nil)
        let packet = CodedPacket(kind: .audio, memory: PacketMemory([1]), pts: 0, dts: 0, timescale: 1000, isKey: true)
        #expect(FLVTagWriter.packet(packet, codec: .nellymoser) == nil)
    }
}
