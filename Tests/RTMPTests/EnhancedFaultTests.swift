import MediaTypes
import RTMP
import TestSupport
import Testing

/// Writes Enhanced RTMP tag bodies byte by byte, as the specification defines them.
enum EnhancedBytes {
    enum Kind { case video, audio }

    static func letters(_ text: String) -> [UInt8] { Array(text.utf8) }

    static func unsigned24(_ value: Int) -> [UInt8] { [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    /// The first byte of a key frame (1 after the flag), or of audio (format 9): the same bits.
    static func first(_ kind: Kind, _ type: UInt8) -> UInt8 { 0x90 | type }

    /// A message of one track without a track id.
    static func single(_ kind: Kind, _ type: UInt8, _ codec: String, _ body: [UInt8]) -> [UInt8] {
        [self.first(kind, type)] + self.letters(codec) + body
    }

    /// One modifier: its data, its type, and the type of what follows.
    static func modifier(_ data: [UInt8], type: UInt8, next: UInt8, isLong: Bool = false) -> [UInt8] {
        let size = data.count - 1
        let coded: [UInt8] =
            isLong || size >= 255 ? [255, UInt8(size >> 8), UInt8(size & 0xFF)] : [UInt8(size)]
        return coded + data + [type << 4 | next]
    }

    /// A message of several tracks, with one codec for all (nil: one each).
    static func many(
        _ kind: Kind, _ type: UInt8, _ codec: String?, _ tracks: [(codec: String, track: UInt8, body: [UInt8])]
    ) -> [UInt8] {
        let multitrack: UInt8 = kind == .video ? 6 : 5
        var bytes = [self.first(kind, multitrack), (codec == nil ? 0x20 : 0x10) | type]
        bytes += codec.map { self.letters($0) } ?? []
        for entry in tracks {
            if codec == nil { bytes += self.letters(entry.codec) }
            bytes += [entry.track] + self.unsigned24(entry.body.count) + entry.body
        }
        return bytes
    }

    /// A message of one track with its id.
    static func one(_ kind: Kind, _ type: UInt8, _ codec: String, track: UInt8, _ body: [UInt8]) -> [UInt8] {
        [self.first(kind, kind == .video ? 6 : 5), type] + self.letters(codec) + [track] + body
    }

    /// The start of a FLAC stream: 48 kHz, two channels, 16 bits, blocks of 4,608 samples.
    static let flac: [UInt8] =
        Array("fLaC".utf8) + [0x80, 0, 0, 34, 0x12, 0, 0x12, 0, 0, 0, 0, 0, 0, 0, 0x0B, 0xB8, 0x02, 0xF0]
        + [UInt8](repeating: 0, count: 20)

    /// An `HEVCDecoderConfigurationRecord` with one SPS and one PPS, in the form that Tandem writes.
    static let hevc: [UInt8] =
        [1] + [UInt8](repeating: 0, count: 20) + [
            3, 2, 0xA1, 0, 1, 0, 4, 0x42, 1, 1, 1, 0xA2, 0, 1, 0, 3, 0x44, 1, 0xC0,
        ]
}

@Suite("Enhanced RTMP: faults and unusual forms")
struct EnhancedFaultTests {
    private typealias Bytes = EnhancedBytes
    private typealias Run = FLVDemuxerTests.Run

    private static let all: Set<CodecName> = [
        .h264, .hevc, .av1, .vp9, .vp8, .aac, .mp3, .opus, .ac3, .eac3, .flac,
    ]
    private static let idr: [UInt8] = FLVDemuxerTests.avcc([0x26, 1, 9, 9])
    private static let inter: [UInt8] = FLVDemuxerTests.avcc([0x02, 1, 7])

    private func run() -> Run { Run(demuxer: FLVDemuxer(codecs: Self.all)) }

    @Test("HEVC as codec id 12 and as FourCC gives the same configuration and packets")
    func hevcEitherWay() {
        var (old, new) = (self.run(), self.run())
        old.video([0x1C, 0, 0, 0, 0] + Bytes.hevc)
        new.video(Bytes.single(.video, 0, "hvc1", Bytes.hevc))
        for (frame, offset) in [(Self.idr, 66), (Self.inter, -33), (Self.inter, 0)] {
            let (coded, at) = (Bytes.unsigned24(offset), UInt32(old.packets.count * 33))
            old.video([frame == Self.idr ? 0x1C : 0x2C, 1] + coded + frame, at: at)
            new.video(Bytes.single(.video, 1, "hvc1", coded + frame), at: at)
        }
        #expect(old.configurations == [CodecParameters(codec: .hevc, configuration: Bytes.hevc)])
        #expect(new.configurations == old.configurations)
        for run in [old, new] {
            #expect(run.packets.map(\.dts) == [0, 33, 66])
            #expect(run.packets.map(\.pts) == [66, 0, 66])
            #expect(run.packets.map(\.isKey) == [true, false, false])
            #expect(run.payloads == [Self.idr, Self.inter, Self.inter])
        }
    }

    @Test("SEI and parameter sets sent as HEVC messages of their own are joined to the next HEVC frame")
    func aheadOfPictures() {
        var run = self.run()
        let sei = FLVDemuxerTests.avcc([0x4E, 1, 5, 1, 9, 0x80])
        let sets = FLVDemuxerTests.avcc([0x42, 1, 1, 1], [0x44, 1, 0xC0])
        func tag(_ units: [UInt8], at time: UInt32) {
            run.video(Bytes.single(.video, 3, "hvc1", units), at: time)
        }
        run.video(Bytes.single(.video, 0, "hvc1", Bytes.hevc))
        tag(FLVDemuxerTests.avcc([0x46, 1, 0x50]), at: 10)
        tag(FLVDemuxerTests.avcc([0x50, 1, 0x80]), at: 10)
        #expect(run.demuxer.counters.empty == 2, "a delimiter, and SEI after a frame that is gone")
        tag(sets, at: 20)
        tag(sei, at: 20)
        #expect(run.packets.isEmpty)
        tag(Self.idr, at: 20)
        tag(Self.inter, at: 40)
        #expect(run.payloads == [sets + sei + Self.idr, Self.inter])
        #expect(run.packets.map(\.dts) == [20, 40] && run.packets.map(\.isKey) == [true, false])
        tag(sei, at: 60)
        run.video([0x17, 0, 0, 0, 0] + FLVDemuxerTests.record())
        run.video([0x17, 1, 0, 0, 0] + FLVDemuxerTests.avcc([0x65, 1]), at: 60)
        #expect(run.payloads.last == FLVDemuxerTests.avcc([0x65, 1]))
        #expect(run.packets.count == 3)
    }

    @Test("SEI sent before a changed HEVC configuration is dropped, not joined to the frame after it")
    func aheadOfAnotherRecord() {
        var run = self.run()
        let sei = FLVDemuxerTests.avcc([0x4E, 1, 5, 1, 9, 0x80])
        var other = Bytes.hevc
        // general_level_idc.
        other[12] ^= 1
        run.video(Bytes.single(.video, 0, "hvc1", Bytes.hevc))
        run.video(Bytes.single(.video, 3, "hvc1", sei), at: 20)
        run.video(Bytes.single(.video, 0, "hvc1", other), at: 20)
        run.video(Bytes.single(.video, 3, "hvc1", Self.idr), at: 20)
        #expect(run.configurations.count == 2 && run.payloads == [Self.idr])
    }

    @Test("HEVC frames are read with and without composition offset; a truncated configuration is dropped")
    func codedFrames() {
        var run = self.run()
        for length in 1..<Bytes.hevc.count {
            run.video(Bytes.single(.video, 0, "hvc1", Array(Bytes.hevc.prefix(length))))
        }
        #expect(run.items.isEmpty && run.demuxer.counters.badConfigurations == Bytes.hevc.count - 1)
        run.video(Bytes.single(.video, 0, "hvc1", Bytes.hevc))
        run.video(Bytes.single(.video, 1, "hvc1", [0xFF, 0xFF, 0xBE] + Self.idr), at: 1000)
        run.video(Bytes.single(.video, 3, "hvc1", Self.inter), at: 1033)
        run.video(Bytes.single(.video, 2, "hvc1", []), at: 1050)
        #expect(run.packets.map(\.pts) == [934, 1033])
        #expect(run.payloads == [Self.idr, Self.inter])
        #expect(run.demuxer.hasSupportedTrack && run.demuxer.unsupportedVideo == nil)
    }

    @Test(
        "AV1, VP9 and VP8 frames pass unchanged, and their own bits decide about key frames",
        arguments: [
            ("av01", .av1, [0x81, 0, 0x0C, 0], [0x32, 1, 0x10], [0x32, 1, 0x20]),
            // After a delimiter and a sequence header; after a delimiter, with an extension.
            ("av01", .av1, [], [0x12, 0, 0x0A, 2, 0, 0, 0x32, 1, 0x10], [0x12, 0, 0x36, 0, 1, 0x20]),
            // A frame header whose frame follows; a length beyond the end.
            ("av01", .av1, [], [0x1A, 1, 0x10, 0x22, 1, 9], [0x32, 3, 0x10, 1]),
            ("vp09", .vp9, [1, 0, 0, 0, 0, 31, 0x80, 2, 2, 2, 0, 0], [0x82, 0x49], [0x86, 0]),
            ("vp08", .vp8, [], [0x10, 2], [0x11, 2]),
        ] as [(String, CodecName, [UInt8], [UInt8], [UInt8])])
    func wholePictures(letters: String, codec: CodecName, record: [UInt8], key: [UInt8], inter: [UInt8]) {
        var run = self.run()
        run.video(Bytes.single(.video, 0, letters, record))
        run.video(Bytes.single(.video, 1, letters, key), at: 40)
        run.video(Bytes.single(.video, 3, letters, inter), at: 80)
        run.video(Bytes.single(.video, 1, letters, []), at: 90)
        #expect(run.configurations.last?.codec == codec && run.configurations.first?.configuration == record)
        #expect(run.packets.map(\.pts) == [40, 80])
        #expect(run.packets.map(\.isKey) == [true, false])
        #expect(run.payloads == [key, inter] && run.demuxer.counters.empty == 1)
    }

    @Test(
        "Opus is read with a configuration, an empty one or none; FLAC and AAC with one; (E-)AC-3 and MP3 without",
        arguments: [
            ("Opus", .opus, Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0]), ("Opus", .opus, []),
            ("Opus", .opus, nil), ("fLaC", .flac, Bytes.flac),
            ("ac-3", .ac3, nil), ("ec-3", .eac3, nil), (".mp3", .mp3, nil), ("mp4a", .aac, [0x11, 0x90]),
        ] as [(String, CodecName, [UInt8]?)])
    func audio(letters: String, codec: CodecName, record: [UInt8]?) {
        var run = self.run()
        if let record { run.audio(Bytes.single(.audio, 0, letters, record)) }
        run.audio(Bytes.single(.audio, 1, letters, [0x21, 0x10, 4]), at: 20)
        run.audio(Bytes.single(.audio, 4, letters, [0, 2]), at: 30)
        run.audio(Bytes.single(.audio, 1, letters, [0x21, 0x10, 5]), at: 40)
        #expect(run.configurations == [CodecParameters(codec: codec, configuration: record ?? [])])
        #expect(run.packets.map(\.pts) == [20, 40])
        #expect(run.payloads == [[0x21, 0x10, 4], [0x21, 0x10, 5]])
    }

    @Test("a FLAC configuration is read as a bare block (FFmpeg) or a stream header, and passed on as a stream header")
    func flacRecords() {
        let more = Array("fLaC".utf8) + [0, 0, 0, 34] + Bytes.flac[8...] + [0x84, 0, 0, 4, 1, 2, 3, 4]
        for record in [Bytes.flac, Array(Bytes.flac[8...]), more] {
            var run = self.run()
            run.audio(Bytes.single(.audio, 0, "fLaC", record))
            run.audio(Bytes.single(.audio, 1, "fLaC", [0xFF, 0xF8, 1]), at: 20)
            #expect(run.configurations == [CodecParameters(codec: .flac, configuration: Bytes.flac)])
            #expect(run.payloads == [[0xFF, 0xF8, 1]] && run.demuxer.counters.badConfigurations == 0)
        }
    }

    @Test("a FLAC configuration with a wrong length, marker, block type, block size or sample rate is refused")
    func flacFaults() {
        var faults = (0..<Bytes.flac.count).map { Array(Bytes.flac.prefix($0)) }
        faults += (1...3).map { Array(Bytes.flac.dropFirst(8 + $0)) } + [Array(Bytes.flac[8...]) + [0]]
        // Another block first, another length, a wrong marker, no samples per block, a maximum below the minimum, no
        // sample rate.
        for (place, value) in [(4, 0x81), (5, 1), (7, 33), (7, 35), (0, 0x46), (8, 0), (10, 0), (18, 0)]
            as [(Int, UInt8)]
        {
            var record = Bytes.flac
            record[place] = value
            if place == 18 { record.replaceSubrange(18...20, with: [0, 0, 0x02]) }
            faults.append(record)
        }
        for record in faults where !record.isEmpty {
            var run = self.run()
            run.audio(Bytes.single(.audio, 0, "fLaC", record))
            run.audio(Bytes.single(.audio, 1, "fLaC", [0xFF, 0xF8, 1]))
            #expect(run.items.isEmpty && run.demuxer.counters.badConfigurations == 1, "\(record)")
        }
    }

    @Test("FLAC and AAC frames before a valid configuration are dropped", arguments: ["fLaC", "mp4a"])
    func audioBeforeRecord(letters: String) {
        var run = self.run()
        run.audio(Bytes.single(.audio, 1, letters, [1, 2]))
        run.audio(Bytes.single(.audio, 0, letters, [0]))
        run.audio(Bytes.single(.audio, 1, letters, [1, 2]))
        #expect(run.items.isEmpty)
        #expect(run.demuxer.counters.beforeConfiguration == 2 && run.demuxer.counters.badConfigurations == 1)
    }

    @Test("several ModEx modifiers in a row are read; a nanosecond offset among them is added to the timestamp")
    func modifiers() {
        for long in [256, 65_536] {
            var run = self.run()
            run.video(Bytes.single(.video, 0, "hvc1", Bytes.hevc))
            var body = [Bytes.first(.video, 7)] + Bytes.modifier([0xAA], type: 5, next: 7)
            body += Bytes.modifier(Bytes.unsigned24(999_999), type: 0, next: 7)
            body += Bytes.modifier([UInt8](repeating: 3, count: long), type: 6, next: 3)
            run.video(body + Bytes.letters("hvc1") + Self.idr, at: 5)
            #expect(run.packets.map(\.pts) == [5_999_999] && run.packets.map(\.dts) == [5_000_000])
            #expect(run.packets.map(\.timescale) == [1_000_000_000])
            #expect(run.payloads == [Self.idr] && run.demuxer.counters.badHeaders == 0)
        }
    }

    @Test(
        "a nanosecond offset of two bytes, or of a millisecond and more, is ignored, and the frame is kept",
        arguments: [[0xFF, 0xFF], [0x0F, 0x42, 0x40], [0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func uselessOffset(data: [UInt8]) {
        var run = self.run()
        let body = [Bytes.first(.audio, 7)] + Bytes.modifier(data, type: 0, next: 1) + Bytes.letters("Opus") + [1, 2]
        run.audio(body, at: 7)
        #expect(run.packets.map(\.pts) == [7] && run.packets.map(\.timescale) == [1000])
        #expect(run.payloads == [[1, 2]])
    }

    @Test("a message with 17 ModEx modifiers or truncated ones is dropped, and the next one is read")
    func cutModifiers() {
        var run = self.run()
        let endless = [Bytes.first(.video, 7)] + (0..<17).flatMap { _ in Bytes.modifier([1], type: 5, next: 7) }
        run.video(endless + [0x51] + Bytes.letters("hvc1") + Self.idr)
        let whole =
            [Bytes.first(.audio, 7)] + Bytes.modifier([1, 2, 3], type: 0, next: 7)
            + Bytes.modifier([UInt8](repeating: 0, count: 300), type: 1, next: 1) + Bytes.letters("Opus")
        for length in 1..<whole.count { run.audio(Array(whole.prefix(length))) }
        #expect(run.packets.isEmpty && run.demuxer.counters.badHeaders == whole.count)
        run.audio(Bytes.single(.audio, 1, "Opus", [1]))
        #expect(run.packets.count == 1)
    }

    @Test("OneTrack, ManyTracks and ManyTracksManyCodecs messages give packets with their track numbers")
    func severalTracks() {
        var run = self.run()
        let record: [UInt8] = [0x11, 0x90]
        run.audio(Bytes.one(.audio, 0, "mp4a", track: 1, record))
        run.audio(Bytes.one(.audio, 1, "mp4a", track: 1, [0x21, 1]), at: 10)
        run.audio(
            Bytes.many(.audio, 0, "mp4a", [("", 0, record), ("", 1, record), ("", 2, [0x12, 0x10])]), at: 20)
        run.audio(
            Bytes.many(.audio, 1, "mp4a", [("", 0, [0x21, 2]), ("", 1, [0x21, 3, 3]), ("", 2, [0x21, 4])]), at: 30)
        run.audio(Bytes.many(.audio, 1, nil, [("mp4a", 0, [0x21, 5]), ("Opus", 3, [6])]), at: 40)
        #expect(run.configurations.map(\.track) == [1, 0, 2, 3])
        #expect(run.configurations.map(\.codec) == [.aac, .aac, .aac, .opus])
        #expect(run.packets.map(\.track) == [1, 0, 1, 2, 0, 3])
        #expect(run.payloads == [[0x21, 1], [0x21, 2], [0x21, 3, 3], [0x21, 4], [0x21, 5], [6]])
        #expect(run.demuxer.counters.badHeaders == 0 && run.demuxer.counters.extraTracks == 0)
    }

    @Test("a track size past the end, or a nested multitrack, drops the rest of the message")
    func damagedTracks() {
        var run = self.run()
        run.audio(Bytes.single(.audio, 0, "mp4a", [0x11, 0x90]))
        let whole = Bytes.many(.audio, 1, "mp4a", [("", 0, [0x21, 2]), ("", 0, [0x21, 3, 3, 3])])
        run.audio(Array(whole.dropLast()), at: 30)
        #expect(run.payloads == [[0x21, 2]] && run.demuxer.counters.badHeaders == 1)
        run.audio([Bytes.first(.audio, 5), 0x15] + Bytes.letters("mp4a") + [0, 0, 0, 1, 9])
        run.audio([Bytes.first(.audio, 5), 0x31] + Bytes.letters("mp4a") + [0, 0, 0, 1, 9])
        #expect(run.packets.count == 1 && run.demuxer.counters.badHeaders == 3)
        run.audio(Bytes.single(.audio, 1, "mp4a", [0x21, 7]), at: 60)
        #expect(run.payloads.last == [0x21, 7])
    }

    @Test("only video track 0 is used, and audio tracks after the fourth are dropped; the first dropped one is named")
    func extraTracks() {
        var run = self.run()
        run.video(Bytes.single(.video, 0, "hvc1", Bytes.hevc))
        run.video(Bytes.many(.video, 3, "hvc1", [("", 1, [1, 1]), ("", 0, Self.idr), ("", 2, [2, 2])]), at: 5)
        #expect(run.payloads == [Self.idr] && run.demuxer.counters.extraTracks == 2)
        for track in UInt8(0)..<6 { run.audio(Bytes.one(.audio, 1, "Opus", track: track, [track]), at: 9) }
        #expect(run.packets.filter { $0.kind == .audio }.map(\.track) == [0, 1, 2, 3])
        #expect(run.demuxer.unsupportedCodec == "hvc1 as video track 1", "the first that was dropped")
        #expect(run.demuxer.unsupportedVideo == nil, "the publisher is kept")
    }

    @Test("a third audio track written by Tandem's RTMP client is read back unchanged")
    func roundTrip() throws {
        var run = self.run()
        var parameters = CodecParameters(codec: .aac, configuration: [0x11, 0x90])
        parameters.track = 2
        run.demuxer.receive(try #require(FLVTagWriter.configuration(parameters)), arrival: 0, into: &run.items)
        run.audio(Bytes.one(.audio, 1, "mp4a", track: 2, [0x21, 9]), at: 11)
        let packet = try #require(run.packets.first)
        run.demuxer.receive(try #require(FLVTagWriter.packet(packet, codec: .aac)), arrival: 0, into: &run.items)
        #expect(run.configurations == [parameters])
        #expect(run.packets.map(\.track) == [2, 2] && run.packets.map(\.pts) == [11, 11])
        #expect(run.payloads == [[0x21, 9], [0x21, 9]])
    }

    @Test(
        "random bytes after an enhanced header do not trap, and each packet's range lies in its memory",
        arguments: 0..<200)
    func random(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        var run = self.run()
        let letters = ["hvc1", "av01", "vp09", "mp4a", "Opus", "fLaC", "avc1"]
        for _ in 0..<40 {
            let kind: EnhancedBytes.Kind = Bool.random(using: &random) ? .video : .audio
            var body = random.sparseBytes(Int.random(in: 0...60, using: &random))
            body.insert(contentsOf: Bytes.letters(letters.randomElement(using: &random) ?? ""), at: body.count / 4)
            body.insert(Bytes.first(kind, UInt8.random(in: 0...7, using: &random)), at: 0)
            if Bool.random(using: &random) { body.insert(UInt8.random(in: 0...0x2F, using: &random), at: 1) }
            run.feed(kind == .video ? .video : .audio, body, UInt32.random(in: 0...9_999, using: &random))
        }
        #expect(run.packets.allSatisfy { $0.range.lowerBound >= 0 && $0.range.upperBound <= $0.memory.count })
        #expect(run.packets.allSatisfy { $0.timescale == 1000 || $0.timescale == 1_000_000_000 })
    }
}
