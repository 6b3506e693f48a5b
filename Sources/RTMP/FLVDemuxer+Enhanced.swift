import MediaKernels
import MediaTypes

/// State of a publication that only Enhanced RTMP needs.
struct EnhancedState {
    /// The color description from the publisher.
    var color: ColorSignal?
    /// Configurations of the audio tracks other than the main one.
    var extraAudio: [UInt8: CodecParameters] = [:]
    /// Channel layouts from the publisher, by track.
    var layouts: [UInt8: ChannelLayout] = [:]
    /// True after a track beyond the supported number was reported as unsupported; that is done once.
    var isExtraTold = false
}

/// Enhanced RTMP messages, and HEVC as it was sent before Enhanced RTMP.
extension FLVDemuxer {
    /// Maximum number of audio tracks other than the main one. With the main one a source has at most four.
    package static let maximumExtraAudioTracks = 3

    // MARK: Video

    /// Handles codec numbers of the legacy header other than H.264. 12 is HEVC in the format of H.264 messages, which
    /// Chinese networks and some cameras have long sent.
    mutating func plainVideo(
        _ message: RTMPMediaMessage, _ first: UInt8, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        guard first & 0x0F == FLVCodec.hevc, self.codecs.contains(.hevc) else {
            self.unsupported(video: FLVCodec.videoName(first & 0x0F))
            return
        }
        guard let packetType = message.payload.byte(at: 1), let offset = message.payload.unsigned24(at: 2) else {
            return self.count(\.short)
        }
        self.hasSupportedTrack = true
        switch packetType {
        case 0: self.configure(.hevc, message.payload.bytes(in: 5..<message.payload.count), &items)
        case 1: self.hevcPicture(message, from: 5, FLVDemuxer.signed24(offset), arrival, &items)
        default: break
        }
    }

    private mutating func unsupported(video codec: String) {
        self.unsupported(codec)
        if self.video == nil { self.unsupportedVideo = codec }
    }

    mutating func enhancedVideo(_ message: RTMPMediaMessage, _ arrival: Int64, _ items: inout [SourceItem]) {
        guard let tag = EnhancedTag(message.payload, isVideo: true) else {
            self.counters.badHeaders += 1
            self.unsupported(video: FLVCodec.fourCC(in: message.payload))
            return
        }
        if tag.isDamaged { self.counters.badHeaders += 1 }
        guard let type = tag.packetType else { return }
        let before = items.count
        for part in tag.parts {
            guard part.track == 0 else {
                self.skipExtra("\(part.codec) as video track \(part.track)")
                continue
            }
            if type == .metadata {
                self.metadata(message.payload.bytes(in: part.range), &items)
                continue
            }
            guard let codec = part.codec.codec, self.codecs.contains(codec),
                CodecParameters(codec: codec, configuration: []).kind == .video
            else {
                self.unsupported(video: "\(part.codec)")
                continue
            }
            self.hasSupportedTrack = true
            let (own, start) = FLVDemuxer.cut(part, of: message)
            self.video(codec, type, own, from: start, arrival, &items)
        }
        FLVDemuxer.refine(&items, from: before, tag.nanoseconds, track: 0)
    }

    private mutating func video(
        _ codec: CodecName, _ type: EnhancedTag.PacketType, _ message: RTMPMediaMessage, from start: Int,
        _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        switch type {
        case .sequenceStart:
            self.configure(codec, message.payload.bytes(in: start..<message.payload.count), &items)
        case .transportSequenceStart where codec == .av1: self.configure(codec, [], &items)
        case .codedFrames where codec == .h264 || codec == .hevc:
            guard let offset = message.payload.unsigned24(at: start) else { return self.count(\.short) }
            self.nalPicture(codec, message, from: start + 3, FLVDemuxer.signed24(offset), arrival, &items)
        case .codedFrames, .codedFramesX:
            if codec == .h264 || codec == .hevc {
                self.nalPicture(codec, message, from: start, 0, arrival, &items)
            } else {
                self.wholePicture(codec, message, from: start, arrival, &items)
            }
        default: break  // End of sequence: encoders also send it in mid-stream and continue.
        }
    }

    mutating func configure(_ codec: CodecName, _ record: [UInt8], _ items: inout [SourceItem]) {
        switch codec {
        case .h264, .hevc: self.configure(nal: codec, record, &items)
        case .av1 where !record.isEmpty && (record.count < 4 || record[0] != 0x81):
            self.counters.badConfigurations += 1
        default: self.emit(CodecParameters(codec: codec, configuration: record), &items)
        }
    }

    private mutating func nalPicture(
        _ codec: CodecName, _ message: RTMPMediaMessage, from start: Int, _ offset: Int64, _ arrival: Int64,
        _ items: inout [SourceItem]
    ) {
        if codec == .h264 {
            self.picture(message, from: start, offset, arrival, &items)
        } else {
            self.hevcPicture(message, from: start, offset, arrival, &items)
        }
    }

    private mutating func hevcPicture(
        _ message: RTMPMediaMessage, from start: Int, _ offset: Int64, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        guard let unit = self.sanitized(message.payload, from: start),
            let (memory, range, units) = self.joined(hevc: unit.memory, unit.range)
        else { return }
        if !units.sequence.isEmpty, !units.picture.isEmpty { self.parameterSets(units, &items) }
        guard self.video?.codec == .hevc else { return self.count(\.beforeConfiguration) }
        let composition = self.checked(offset)
        let dts = self.unwrapper.unwrap(message.timestamp)
        var packet = CodedPacket(
            kind: .video, memory: memory, range: range, pts: dts + composition, dts: dts, timescale: 1000,
            isKey: units.isKey, arrival: arrival)
        packet.wallClock = self.takeNoted(message.timestamp, composition)
        items.append(.packet(packet))
    }

    /// Joins the NAL units of an H.265 frame with those that were sent in separate messages before it, as is done for
    /// H.264.
    private mutating func joined(
        hevc memory: PacketMemory, _ range: Range<Int>
    ) -> (memory: PacketMemory, range: Range<Int>, units: HEVCUnits)? {
        let units = HEVCUnits(memory, in: range)
        guard units.hasPicture else {
            guard units.isAhead, self.ahead.bytes.count + range.count <= Self.mostAhead else {
                self.counters.empty += 1
                return nil
            }
            memory.append(range, to: &self.ahead.bytes)
            return nil
        }
        guard !self.ahead.bytes.isEmpty else { return (memory, range, units) }
        let whole = PacketMemory.joining(self.ahead.bytes, memory, in: range)
        self.ahead = ([], [])
        return (whole, 0..<whole.count, HEVCUnits(whole, in: 0..<whole.count))
    }

    /// Handles H.265 parameter sets in the stream, as is done for H.264: emits a configuration if there was no sequence
    /// header, and again at a key frame with a new sequence parameter set.
    private mutating func parameterSets(_ units: HEVCUnits, _ items: inout [SourceItem]) {
        if self.video?.codec == .hevc {
            guard units.isKey else { return }
            let known = self.video.flatMap { HEVCConfiguration(record: $0.configuration) }?.sequenceParameterSets ?? []
            if units.sequence.allSatisfy({ known.contains($0) }) { return }
        }
        guard let configuration = HEVCConfiguration(units) else { return }
        self.emit(CodecParameters(codec: .hevc, configuration: configuration.record), &items)
    }

    /// Emits a frame of AV1, VP9 or VP8; its payload is passed to the decoder unchanged.
    private mutating func wholePicture(
        _ codec: CodecName, _ message: RTMPMediaMessage, from start: Int, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        guard start < message.payload.count else { return self.count(\.empty) }
        // The key frames of these codecs contain everything a decoder needs.
        if self.video?.codec != codec { self.emit(CodecParameters(codec: codec, configuration: []), &items) }
        let dts = self.unwrapper.unwrap(message.timestamp)
        var packet = CodedPacket(
            kind: .video, memory: message.payload, range: start..<message.payload.count, pts: dts, dts: dts,
            timescale: 1000, isKey: KeyFrameCheck.isKey(codec, message.payload, from: start), arrival: arrival)
        packet.wallClock = self.takeNoted(message.timestamp, 0)
        items.append(.packet(packet))
    }

    /// Reads the color description. `Undefined` and an empty object remove an earlier one.
    private mutating func metadata(_ bytes: [UInt8], _ items: inout [SourceItem]) {
        let values = AMF0Reader.values(in: bytes).values
        guard let name = values.firstIndex(where: { $0.string == "colorInfo" }), name + 1 < values.count else { return }
        let config = values[name + 1]["colorConfig"]
        func point(_ name: String) -> UInt8 { config?[name]?.number.flatMap { UInt8(exactly: $0) } ?? 2 }
        let color = ColorSignal(
            primaries: point("colorPrimaries"), transfer: point("transferCharacteristics"),
            matrix: point("matrixCoefficients"))
        self.enhanced.color = color == ColorSignal() ? nil : color
        if let video = self.video { self.emit(video, &items) }
    }

    // MARK: Audio

    mutating func enhancedAudio(_ message: RTMPMediaMessage, _ arrival: Int64, _ items: inout [SourceItem]) {
        guard let tag = EnhancedTag(message.payload, isVideo: false) else {
            self.counters.badHeaders += 1
            self.unsupported(FLVCodec.fourCC(in: message.payload))
            return
        }
        if tag.isDamaged { self.counters.badHeaders += 1 }
        guard let type = tag.packetType else { return }
        for part in tag.parts {
            guard let codec = part.codec.codec, self.codecs.contains(codec),
                CodecParameters(codec: codec, configuration: []).kind == .audio
            else {
                self.unsupported("\(part.codec)")
                continue
            }
            guard
                part.track == 0 || self.enhanced.extraAudio[part.track] != nil
                    || self.enhanced.extraAudio.count < FLVDemuxer.maximumExtraAudioTracks
            else {
                self.skipExtra("\(part.codec) as audio track \(part.track)")
                continue
            }
            self.hasSupportedTrack = true
            let before = items.count
            let (own, start) = FLVDemuxer.cut(part, of: message)
            self.audio(codec, type, track: part.track, own, from: start, arrival, &items)
            FLVDemuxer.refine(&items, from: before, tag.nanoseconds, track: part.track)
        }
    }

    private mutating func audio(
        _ codec: CodecName, _ type: EnhancedTag.PacketType, track: UInt8, _ message: RTMPMediaMessage, from start: Int,
        _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        switch type {
        case .sequenceStart:
            let said = message.payload.bytes(in: start..<message.payload.count)
            guard let record = AudioConfigurationRecord.read(said, of: codec) else {
                return self.count(\.badConfigurations)
            }
            self.emit(audio: CodecParameters(codec: codec, configuration: record), track: track, &items)
        case .codedFrames:
            var start = start
            // MP3 and AC-3 have no record, Opus can do without, and AAC may have an ADTS header in every frame.
            if codec == .aac, let header = ADTSHeader(message.payload, at: start) {
                self.counters.sanitized += 1
                start += header.size
                if self.audioCodec(of: track) != .aac {
                    self.emit(
                        audio: CodecParameters(codec: codec, configuration: header.configuration), track: track, &items)
                }
            } else if codec != .aac, codec != .flac, self.audioCodec(of: track) != codec {
                self.emit(audio: CodecParameters(codec: codec, configuration: []), track: track, &items)
            }
            guard start < message.payload.count else { return self.count(\.empty) }
            guard self.audioCodec(of: track) == codec else { return self.count(\.beforeConfiguration) }
            self.audioFrame(message, from: start, arrival, &items)
        case .metadata: self.layOut(codec, track, message.payload.bytes(in: start..<message.payload.count), &items)
        default: break  // End of sequence: encoders also send it in mid-stream and continue.
        }
    }

    /// Sets the channel layout of a track, before or after its sequence start.
    private mutating func layOut(_ codec: CodecName, _ track: UInt8, _ bytes: [UInt8], _ items: inout [SourceItem]) {
        guard let layout = MultichannelConfig.read(bytes) else { return self.count(\.badConfigurations) }
        let before = self.enhanced.layouts[track]
        guard before != nil || self.enhanced.layouts.count <= FLVDemuxer.maximumExtraAudioTracks else { return }
        self.enhanced.layouts[track] = layout
        guard let known = track == 0 ? self.audio : self.enhanced.extraAudio[track], known.codec == codec else {
            return
        }
        // A configuration that was made from the earlier layout is dropped.
        let isMade = before.flatMap { MultichannelConfig.opusHead($0) } == known.configuration
        self.emit(
            audio: CodecParameters(codec: codec, configuration: isMade ? [] : known.configuration), track: track, &items
        )
    }

    private func audioCodec(of track: UInt8) -> CodecName? {
        track == 0 ? self.audio?.codec : self.enhanced.extraAudio[track]?.codec
    }

    private mutating func emit(audio parameters: CodecParameters, track: UInt8, _ items: inout [SourceItem]) {
        var parameters = self.enhanced.layouts[track].map { MultichannelConfig.apply($0, to: parameters) } ?? parameters
        guard track != 0 else {
            self.emit(parameters, &items)
            return
        }
        parameters.track = track
        guard self.enhanced.extraAudio[track] != parameters, self.isUsable(parameters) else { return }
        self.enhanced.extraAudio[track] = parameters
        items.append(.configuration(parameters))
    }

    // MARK: Parts

    private mutating func skipExtra(_ name: @autoclosure () -> String) {
        self.counters.extraTracks += 1
        guard !self.enhanced.isExtraTold else { return }
        self.enhanced.isExtraTold = true
        self.unsupported(name())
    }

    /// Returns a part as a message of its own, and the offset where it begins. A part at the end is not copied.
    private static func cut(
        _ part: EnhancedTag.Part, of message: RTMPMediaMessage
    ) -> (RTMPMediaMessage, Int) {
        guard part.range.upperBound < message.payload.count else { return (message, part.range.lowerBound) }
        var own = message
        own.payload = message.payload.copy(of: part.range)
        return (own, 0)
    }

    /// Applies the track number and the nanosecond offset to the packets from index `first` on.
    private static func refine(_ items: inout [SourceItem], from first: Int, _ nanoseconds: Int64, track: UInt8) {
        guard nanoseconds != 0 || track != 0 else { return }
        for index in first..<max(first, items.count) {
            guard case .packet(var packet) = items[index] else { continue }
            packet.track = track
            if nanoseconds != 0 {
                packet.pts = packet.pts &* 1_000_000 &+ nanoseconds
                packet.dts = packet.dts &* 1_000_000
                packet.timescale = 1_000_000_000
            }
            items[index] = .packet(packet)
        }
    }
}

/// Detects from the payload whether a coded frame of VP8, VP9 or AV1 is a key frame.
enum KeyFrameCheck {
    static func isKey(_ codec: CodecName, _ memory: PacketMemory, from start: Int) -> Bool {
        guard let first = memory.byte(at: start) else { return false }
        switch codec {
        case .vp8: return first & 1 == 0  // RFC 6386 §9.1.
        case .vp9:
            // VP9 Bitstream §6.2: frame_marker 2, profile 2 (and a reserved bit in profile 3), show_existing_frame.
            guard first >> 6 == 2 else { return false }
            let shift: UInt8 = first >> 4 & 3 == 3 ? 1 : 0
            return first >> (3 - shift) & 1 == 0 && first >> (2 - shift) & 1 == 0
        case .av1:
            var offset = start
            while let unit = AV1Units.unit(at: &offset, end: memory.count, { memory.byte(at: $0) }) {
                guard unit.type == AV1Units.frame || unit.type == AV1Units.frameHeader else { continue }
                // AV1 §5.9.2: show_existing_frame 1, frame_type 2.
                guard !unit.payload.isEmpty, let header = memory.byte(at: unit.payload.lowerBound) else { return false }
                return header & 0xE0 == 0
            }
            return false
        default: return false
        }
    }
}
