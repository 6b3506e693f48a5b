import HLS
package import MediaTypes

/// A track of a source's own recording: what the header of its MP4 file says about it.
package struct SourceMovieTrack: Sendable, Hashable {
    /// Why a track cannot be recorded.
    package struct Refusal: Error, Sendable, Hashable {
        package let reason: String
    }

    package let kind: TrackKind
    package let codec: CodecName
    /// Codec string, for example `avc1.64001f`. Spec: RFC 6381.
    package let codecString: String
    /// The complete sample entry box. Spec: ISO/IEC 14496-12 §8.5.2.
    package let entry: [UInt8]
    /// Ticks per second: 90,000 for video, the sample rate for audio.
    package let timescale: Int64
    /// Frame width in pixels; 0 for audio.
    package let width: Int
    /// Frame height in pixels; 0 for audio.
    package let height: Int
    /// How players turn the video.
    package let orientation: VideoOrientation

    /// Ticks per second of every video track. Milliseconds of RTMP, the clock of MPEG-TS and that of RTP are whole ticks.
    static let videoTimescale: Int64 = 90_000

    private init(
        _ parameters: CodecParameters, _ codecString: String, timescale: Int64, width: Int = 0, height: Int = 0,
        entry: (inout BoxWriter) -> Void
    ) {
        (self.kind, self.codec, self.codecString) = (parameters.kind, parameters.codec, codecString)
        (self.timescale, self.width, self.height) = (timescale, width, height)
        self.orientation = parameters.orientation
        var writer = BoxWriter()
        entry(&writer)
        self.entry = writer.bytes
    }

    /// Returns the track for a codec's parameters.
    ///
    /// - Parameter key: Payload of a key frame of the track. It describes VP9, and AV1 without a configuration record; other
    ///   codecs do not use it.
    /// - Returns: nil if the track can be described only by its first key frame, and `key` is nil.
    /// - Throws: ``Refusal`` if the codec or its configuration cannot be recorded.
    package static func make(_ parameters: CodecParameters, key: [UInt8]? = nil) throws(Refusal) -> SourceMovieTrack? {
        switch parameters.codec {
        case .h264: return try self.avc(parameters)
        case .hevc: return try self.hevc(parameters)
        case .av1: return try self.av1(parameters, key)
        case .vp9: return try self.vp9(parameters, key)
        case .aac: return try self.aac(parameters)
        case .opus: return try self.opus(parameters)
        case .vp8, .mp3, .ac3, .eac3, .flac, .g711a, .g711u, .pcmS16, .pcmU8, .adpcm, .nellymoser, .speex:
            throw Refusal(reason: "\(parameters.codec.rawValue) cannot be recorded in an MP4 file")
        }
    }

    private static func unreadable(_ codec: CodecName) -> Refusal {
        Refusal(reason: "the \(codec.rawValue) configuration cannot be read")
    }

    // MARK: Video

    private static func avc(_ parameters: CodecParameters) throws(Refusal) -> SourceMovieTrack {
        guard let record = AVCRecord(record: parameters.configuration),
            let sequence = SequenceParameterSet(record: parameters.configuration)
        else { throw self.unreadable(.h264) }
        return SourceMovieTrack(
            parameters, sequence.codecString, timescale: self.videoTimescale, width: sequence.width,
            height: sequence.height
        ) { $0.visual("avc1", sequence.width, sequence.height) { $0.box("avcC") { $0.raw(record.record) } } }
    }

    private static func hevc(_ parameters: CodecParameters) throws(Refusal) -> SourceMovieTrack {
        let record = parameters.configuration
        guard record.count >= 23, let sequence = self.hevcSequence(record) else { throw self.unreadable(.hevc) }
        // RFC 6381 and ISO/IEC 14496-15 §E.3: profile, compatibility flags in reverse bit order, tier and level,
        // constraint bytes without trailing zeros.
        let space = ["", "A", "B", "C"][Int(record[1] >> 6)]
        let flags = record[2..<6].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var reversed: UInt32 = 0
        for bit: UInt32 in 0..<32 { reversed |= (flags >> bit & 1) << (31 - bit) }
        var constraints = Array(record[6..<12])
        while constraints.last == 0 { constraints.removeLast() }
        var words = ["hvc1", space + "\(record[1] & 31)", String(reversed, radix: 16).uppercased()]
        words.append((record[1] & 32 == 0 ? "L" : "H") + "\(record[12])")
        words += constraints.map { String($0, radix: 16).uppercased() }
        let text = words.joined(separator: ".")
        return SourceMovieTrack(
            parameters, text, timescale: self.videoTimescale, width: sequence.width, height: sequence.height
        ) { $0.visual("hvc1", sequence.width, sequence.height) { $0.box("hvcC") { $0.raw(record) } } }
    }

    /// Returns the first sequence parameter set of an `HEVCDecoderConfigurationRecord` of at least 23 bytes.
    private static func hevcSequence(_ record: [UInt8]) -> HEVCSequenceParameterSet? {
        var offset = 23
        for _ in 0..<record[22] {
            guard record.count - offset >= 3 else { return nil }
            let type = record[offset] & 0x3F
            let count = Int(record[offset + 1]) << 8 | Int(record[offset + 2])
            offset += 3
            guard let units = AVCRecord.units(in: record, at: &offset, count: count) else { return nil }
            if type == 33, let unit = units.first { return HEVCSequenceParameterSet(nalUnit: unit) }
        }
        return nil
    }

    private static func av1(_ parameters: CodecParameters, _ key: [UInt8]?) throws(Refusal) -> SourceMovieTrack? {
        var record = parameters.configuration
        if record.count <= 4 {
            guard let key else { return nil }
            guard let made = self.av1Record(key) else { throw self.unreadable(.av1) }
            record = made
        }
        guard let sequence = AV1SequenceHeader(record: record) else { throw self.unreadable(.av1) }
        let level = Int(record[1] & 31).padded(2)
        let tier = record[2] & 0x80 == 0 ? "M" : "H"
        let depth = record[2] & 0x40 == 0 ? "08" : record[2] & 0x20 == 0 ? "10" : "12"
        let text = "av01.\(record[1] >> 5).\(level)\(tier).\(depth)"
        return SourceMovieTrack(
            parameters, text, timescale: self.videoTimescale, width: sequence.maxWidth, height: sequence.maxHeight
        ) { $0.visual("av01", sequence.maxWidth, sequence.maxHeight) { $0.box("av1C") { $0.raw(record) } } }
    }

    /// Makes an `AV1CodecConfigurationRecord` from the sequence header in a key frame; nil if it has none. The level is
    /// given as unlimited and the bit depth as 8: decoders read the sequence header, which follows.
    ///
    /// Spec: AV1 Codec ISO Media File Format Binding §2.3.
    private static func av1Record(_ key: [UInt8]) -> [UInt8]? {
        var units = AV1Units(key[...])
        while let unit = units.next() {
            guard unit.type == AV1Units.sequenceHeader, let first = key[unit.payload].first,
                unit.payload.count < 1 << 14
            else { continue }
            // A unit with its size: header, size in one or two bytes of seven bits, payload.
            let count = unit.payload.count
            let size =
                count < 128
                ? [UInt8(truncatingIfNeeded: count)]
                : [UInt8(truncatingIfNeeded: count) | 0x80, UInt8(truncatingIfNeeded: count >> 7)]
            return [0x81, first & 0xE0 | 31, 0x0C, 0, 0x0A] + size + key[unit.payload]
        }
        return nil
    }

    private static func vp9(_ parameters: CodecParameters, _ key: [UInt8]?) throws(Refusal) -> SourceMovieTrack? {
        // The size is only in key frames.
        guard let key else { return nil }
        guard let frame = VP9KeyFrame(key) else { throw self.unreadable(.vp9) }
        var record = parameters.configuration
        // Version and flags, profile, level, bit depth and chroma, colors, no initialization data.
        // Spec: VP Codec ISO Media File Format Binding, VPCodecConfigurationBox.
        let isWhole = record.count >= 12 && record[0] == 1 && record[1...3].allSatisfy { $0 == 0 }
        if !isWhole {
            record = [1, 0, 0, 0, frame.profile, 0, frame.bitDepth << 4 | frame.chroma << 1, 2, 2, 2, 0, 0]
        }
        let numbers = [record[4], record[5], record[6] >> 4].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return SourceMovieTrack(
            parameters, "vp09.\(numbers.joined(separator: "."))", timescale: self.videoTimescale, width: frame.width,
            height: frame.height
        ) { $0.visual("vp09", frame.width, frame.height) { $0.box("vpcC") { $0.raw(record) } } }
    }

    // MARK: Audio

    private static func aac(_ parameters: CodecParameters) throws(Refusal) -> SourceMovieTrack {
        guard let audio = AudioSpecificConfig(record: parameters.configuration),
            parameters.configuration.count < 1 << 12
        else { throw self.unreadable(.aac) }
        let record = parameters.configuration
        return SourceMovieTrack(parameters, audio.codecString, timescale: Int64(audio.sampleRate)) { writer in
            writer.mp4a(audio, configuration: record, stream: 0)
        }
    }

    private static func opus(_ parameters: CodecParameters) throws(Refusal) -> SourceMovieTrack {
        let head = parameters.configuration
        // RFC 7845 §5.1, little-endian: "OpusHead", version, channels, pre-skip, sample rate, gain, mapping family.
        let isWhole = head.count >= 19 && head.starts(with: Array("OpusHead".utf8))
        let channels = isWhole ? Int(head[9]) : parameters.channels > 0 ? parameters.channels : 2
        guard (1...(isWhole ? 255 : 2)).contains(channels), !isWhole || head[18] == 0 || head.count >= 21 + channels
        else { throw self.unreadable(.opus) }
        return SourceMovieTrack(parameters, "opus", timescale: 48_000) { writer in
            writer.audio("Opus", channels: channels, rate: 48_000) { entry in
                entry.box("dOps") { box in
                    box.u8(0)
                    box.u8(UInt8(clamping: channels))
                    guard isWhole else { return box.raw([0, 0, 0, 0, 0xBB, 0x80, 0, 0, 0]) }
                    box.raw([head[11], head[10], head[15], head[14], head[13], head[12], head[17], head[16], head[18]])
                    if head[18] != 0 { box.raw(Array(head[19..<(21 + channels)])) }
                }
            }
        }
    }
}

/// The frame size and format in the header of a VP9 key frame. Spec: VP9 Bitstream §6.2, §7.2.
struct VP9KeyFrame: Sendable, Hashable {
    let profile: UInt8
    let bitDepth: UInt8
    /// Chroma format as in `vpcC`: 1 4:2:0 (collocated), 2 4:2:2, 3 4:4:4.
    let chroma: UInt8
    let width: Int
    let height: Int

    /// Reads the header; nil if this is no key frame.
    init?(_ bytes: [UInt8]) {
        var reader = BitReader(Array(bytes.prefix(32)))
        guard reader.bits(2) == 2, let low = reader.bits(1), let high = reader.bits(1) else { return nil }
        let profile = UInt8(high << 1 | low)
        if profile == 3, reader.bits(1) == nil { return nil }
        // show_existing_frame, frame_type, then two flags and the sync code.
        guard reader.bits(1) == 0, reader.bits(1) == 0, reader.bits(2) != nil, reader.bits(24) == 0x49_83_42 else {
            return nil
        }
        var depth: UInt8 = 8
        if profile >= 2 {
            guard let isTwelve = reader.bits(1) else { return nil }
            depth = isTwelve == 1 ? 12 : 10
        }
        guard let space = reader.bits(3) else { return nil }
        var chroma: UInt8 = 1
        if space == 7 {
            chroma = 3
            if profile & 1 == 1, reader.bits(1) == nil { return nil }
        } else {
            guard reader.bits(1) != nil else { return nil }
            if profile & 1 == 1 {
                guard let horizontal = reader.bits(1), let vertical = reader.bits(1), reader.bits(1) != nil else {
                    return nil
                }
                chroma = horizontal == 0 ? 3 : vertical == 0 ? 2 : 1
            }
        }
        guard let width = reader.bits(16), let height = reader.bits(16) else { return nil }
        (self.profile, self.bitDepth, self.chroma) = (profile, depth, chroma)
        (self.width, self.height) = (Int(width) + 1, Int(height) + 1)
    }
}
