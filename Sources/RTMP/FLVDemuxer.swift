import MediaKernels
package import MediaTypes

/// Turns the audio and video messages of one publication into configurations and coded packets.
///
/// Pure. Only the payload is decisive: the metadata and the key flag of the FLV header are not trusted, and neither are
/// its sample rate, size and channels, except for codecs that have no other description, such as PCM.
/// Nothing in here can fail: data that cannot be read is dropped and counted.
///
/// Spec: Video File Format 10.1 Annex E.4.2, E.4.3.
package struct FLVDemuxer: Sendable {
    /// Counters of messages that were dropped or repaired.
    package struct Counters: Sendable, Hashable {
        /// Number of messages that are shorter than their header.
        package var short = 0
        /// Number of empty messages and frames, and of H.264 and H.265 messages without slices, parameter sets and SEI.
        package var empty = 0
        /// Number of frames whose NAL units could not be found.
        package var malformed = 0
        /// Number of frames that were rewritten: with four-byte NAL unit lengths and without empty units, or AAC
        /// without its ADTS header.
        package var sanitized = 0
        /// Number of configuration records and channel layouts that are not valid or too large.
        package var badConfigurations = 0
        /// Number of packets dropped because their track had no configuration for their codec.
        package var beforeConfiguration = 0
        /// Number of composition offsets over 15 minutes, which are read as 0.
        package var badCompositionOffsets = 0
        /// Number of messages, or tracks of a message, in codecs that are not supported. The first of ``extraTracks`` and
        /// messages with an unreadable Enhanced RTMP header count here, too.
        package var unsupported = 0
        /// Number of packets and configurations dropped because their track is beyond the supported number of tracks.
        package var extraTracks = 0
        /// Number of Enhanced RTMP messages that are truncated or not valid, in the header or among the tracks.
        package var badHeaders = 0

        package init() {}
    }

    package internal(set) var counters = Counters()
    /// The codec of the last unsupported message, shown to the publisher; nil if there was none.
    package private(set) var unsupportedCodec: String?
    /// True if at least one track has a supported codec.
    package internal(set) var hasSupportedTrack = false
    /// The codec of the main video track if no supported video has arrived; otherwise nil.
    package internal(set) var unsupportedVideo: String?

    var unwrapper = TimestampUnwrapper()
    var video: CodecParameters?
    var audio: CodecParameters?
    var lengthSize = 4
    /// The last sequence header in canonical form. Encoders repeat it.
    var videoHeader: [UInt8]?

    let codecs: Set<CodecName>
    /// True if H.264 is among the accepted codecs; a copy for speed, because nearly every video packet is checked.
    private let takesH264: Bool
    private let takesAAC: Bool
    /// State that only Enhanced RTMP messages need, such as the additional audio tracks.
    var enhanced = EnhancedState()
    private var timing: PictureTimingRules?
    /// NAL units sent in messages of their own before a frame, in canonical form. They are kept until the next frame,
    /// a different sequence header, or another codec; see ``joined(_:)``. The types are those of H.264.
    var ahead: (bytes: [UInt8], types: NALTypes) = ([], [])
    /// Maximum size of ``ahead`` in bytes.
    static let mostAhead = 64 << 10
    /// The wall-clock time from the last data message, until the next packet carries it.
    private var noted: (time: WallClockTime, timestamp: UInt32)?

    /// Creates a demuxer for one publication.
    ///
    /// - Parameter codecs: Codecs that are accepted; all others are dropped and reported by ``unsupportedCodec``.
    package init(codecs: Set<CodecName> = FLVDemuxer.usualCodecs) {
        self.codecs = codecs
        self.takesH264 = codecs.contains(.h264)
        self.takesAAC = codecs.contains(.aac)
    }

    /// The codecs that nearly every publisher sends.
    package static let usualCodecs: Set<CodecName> = [.h264, .aac, .mp3]

    /// Sets the wall-clock time at `timestamp`, from a data message. The next packet carries it, converted to the
    /// packet's time, if that is at most two seconds away.
    package mutating func note(_ time: WallClockTime, at timestamp: UInt32) { self.noted = (time, timestamp) }

    /// Removes and returns the wall-clock time noted from a data message, converted to the presentation time of a
    /// packet: `milliseconds` after the packet's `timestamp`. nil if no time was noted, or if it was noted for a time
    /// more than two seconds away.
    mutating func takeNoted(_ timestamp: UInt32, _ milliseconds: Int64) -> WallClockTime? {
        guard let noted = self.noted else { return nil }
        self.noted = nil
        let apart = Int64(Int32(bitPattern: timestamp &- noted.timestamp)) + milliseconds
        // A data message whose timestamp is far from that of the media means something else: metadata always has
        // timestamp 0.
        guard apart.magnitude <= 2_000 else { return nil }
        var time = noted.time
        time.nanoseconds &+= apart * 1_000_000
        return time
    }

    /// Reads one message.
    ///
    /// - Parameters:
    ///   - arrival: Nanoseconds of the process's monotonic clock.
    ///   - items: Receives the configuration if it has changed, and the packet.
    package mutating func receive(_ message: RTMPMediaMessage, arrival: Int64, into items: inout [SourceItem]) {
        // An empty audio message means "silence" in Enhanced RTMP; there is nothing to decode either way.
        guard let first = message.payload.byte(at: 0) else { return self.count(\.empty) }
        switch message.kind {
        case .video: self.video(message, first, arrival, &items)
        case .audio: self.audio(message, first, arrival, &items)
        }
    }

    // MARK: Video

    private mutating func video(
        _ message: RTMPMediaMessage, _ first: UInt8, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        if first & 0x80 != 0 {
            self.enhancedVideo(message, arrival, &items)
            return
        }
        // A command frame (type 5) carries one byte for the player, no video frame.
        if first >> 4 == 5 { return }
        guard first & 0x0F == FLVCodec.avc, self.takesH264 else {
            self.plainVideo(message, first, arrival, &items)
            return
        }
        guard let packetType = message.payload.byte(at: 1), let offset = message.payload.unsigned24(at: 2) else {
            return self.count(\.short)
        }
        self.hasSupportedTrack = true
        switch packetType {
        case 0: self.configure(.h264, message.payload.bytes(in: 5..<message.payload.count), &items)
        case 1: self.picture(message, from: 5, FLVDemuxer.signed24(offset), arrival, &items)
        default: break  // End of sequence: encoders also send it in mid-stream and continue.
        }
    }

    /// Converts an `SI24` field (24 bits, two's complement) to a signed number.
    static func signed24(_ value: UInt32) -> Int64 { Int64(Int32(bitPattern: value << 8) >> 8) }

    /// Handles the configuration record of H.264 or H.265: emits a configuration if the record has changed.
    mutating func configure(nal codec: CodecName, _ record: [UInt8], _ items: inout [SourceItem]) {
        if record.isEmpty { return self.count(\.empty) }
        let configuration =
            codec == .hevc
            ? HEVCConfiguration(record: record).map { ($0.record, $0.lengthSize) }
            : AVCRecord(record: record).map { ($0.record, $0.lengthSize) }
        guard let (canonical, lengthSize) = configuration, canonical.count <= CodecParameters.largestConfiguration
        else { return self.count(\.badConfigurations) }
        self.lengthSize = lengthSize
        if self.video?.codec == codec {
            // A repeated sequence header: parameter sets that arrived in band since then remain valid.
            if self.videoHeader == canonical { return }
            // The units ahead belong to a frame that never arrived. Their parameter sets would replace the new ones.
            self.ahead = ([], [])
        }
        self.videoHeader = canonical
        self.emit(CodecParameters(codec: codec, configuration: canonical), &items)
    }

    /// Emits the packet of an H.264 frame, and a configuration if the parameter sets have changed.
    ///
    /// - Parameter start: Offset of the first NAL unit.
    mutating func picture(
        _ message: RTMPMediaMessage, from start: Int, _ offset: Int64, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        guard let unit = self.sanitized(message.payload, from: start), let (memory, range, types) = self.joined(unit)
        else { return }
        if types.contains(.sps) && types.contains(.pps) { self.parameterSets(memory, range, types, &items) }
        guard self.video?.codec == .h264 else { return self.count(\.beforeConfiguration) }
        let composition = self.checked(offset)
        let dts = self.unwrapper.unwrap(message.timestamp)
        let isKey = types.contains(.idr) || types.contains(.sei) && RecoveryPoint.isAtOnce(memory, in: range)
        var packet = CodedPacket(
            kind: .video, memory: memory, range: range, pts: dts + composition, dts: dts, timescale: 1000,
            isKey: isKey, arrival: arrival)
        packet.wallClock = self.takeNoted(message.timestamp, composition)
        if types.contains(.sei), let time = SupplementalTime.find(memory, in: range, timing: self.timing) {
            packet.wallClock = time
        }
        items.append(.packet(packet))
    }

    /// Joins the NAL units of an H.264 frame with those sent in messages of their own before it; some encoders send
    /// parameter sets and SEI like this. A decoder reports a packet without a frame as damaged, and it would be counted
    /// as a frame.
    ///
    /// - Returns: `nil` for a message without a frame; it is kept for the next frame if it contains parameter sets or
    ///   SEI.
    private mutating func joined(
        _ unit: (memory: PacketMemory, range: Range<Int>, types: NALTypes)
    ) -> (memory: PacketMemory, range: Range<Int>, types: NALTypes)? {
        if unit.types.isDisjoint(with: .pictures) {
            let size = self.ahead.bytes.count + unit.range.count
            guard !unit.types.isDisjoint(with: [.sps, .pps, .sei]), size <= Self.mostAhead else {
                self.counters.empty += 1
                return nil
            }
            unit.memory.append(unit.range, to: &self.ahead.bytes)
            self.ahead.types.formUnion(unit.types)
            return nil
        }
        guard !self.ahead.bytes.isEmpty else { return unit }
        let whole = PacketMemory.joining(self.ahead.bytes, unit.memory, in: unit.range)
        let types = unit.types.union(self.ahead.types)
        self.ahead = ([], [])
        return (whole, 0..<whole.count, types)
    }

    /// Returns the NAL units from `start` on in canonical form: with four-byte lengths and without empty units. `nil`
    /// if there are none, or if their lengths are not valid; both cases are counted.
    ///
    /// - Returns: The units, and their types as read from H.264 headers; for H.265 the types are meaningless.
    mutating func sanitized(
        _ memory: PacketMemory, from start: Int
    ) -> (memory: PacketMemory, range: Range<Int>, types: NALTypes)? {
        let range = start..<max(start, memory.count)
        switch NALSanitizer.sanitize(memory, in: range, lengthSize: self.lengthSize) {
        case .unchanged(let types): return (memory, range, types)
        case .rewritten(let payload):
            self.counters.sanitized += 1
            return (payload.memory, 0..<payload.memory.count, payload.types)
        case .empty:
            self.counters.empty += 1
            return nil
        case .malformed:
            self.counters.malformed += 1
            return nil
        }
    }

    /// Returns the composition offset in milliseconds, or 0 if it is over 15 minutes.
    mutating func checked(_ offset: Int64) -> Int64 {
        guard offset.magnitude > 15 * 60 * 1000 else { return offset }
        self.counters.badCompositionOffsets += 1
        return 0
    }

    /// Handles parameter sets in the stream. Before any sequence header they make the configuration. Later, if an IDR
    /// frame has a sequence parameter set that is not in the configuration, a new configuration is emitted: running
    /// decoders read the set in band, but a relay or decoder that starts later must begin with it.
    private mutating func parameterSets(
        _ memory: PacketMemory, _ range: Range<Int>, _ types: NALTypes, _ items: inout [SourceItem]
    ) {
        if self.video?.codec == .h264 && !types.contains(.idr) { return }
        let sets = ParameterSets(memory, in: range)
        if let known = self.video.flatMap({ AVCRecord(record: $0.configuration) }),
            sets.sequence.allSatisfy({ known.sequenceParameterSets.contains($0) })
        {
            return
        }
        guard
            let configuration = AVCRecord(
                sequenceParameterSets: sets.sequence, pictureParameterSets: sets.picture)
        else { return }
        // NAL unit lengths in the payload remain as the sequence header said, if there was one.
        self.emit(CodecParameters(codec: .h264, configuration: configuration.record), &items)
    }

    // MARK: Audio

    private mutating func audio(
        _ message: RTMPMediaMessage, _ first: UInt8, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        switch first >> 4 {
        case FLVCodec.aac where self.takesAAC: self.aac(message, arrival, &items)
        case FLVCodec.mp3, FLVCodec.mp3At8kHz:
            self.plain(message, CodecParameters(codec: .mp3, configuration: []), "MP3", arrival, &items)
        case FLVCodec.enhancedAudio: self.enhancedAudio(message, arrival, &items)
        default: self.plain(message, FLVCodec.plainAudio(first), FLVCodec.audioName(first >> 4), arrival, &items)
        }
    }

    /// Handles audio with the legacy header of one byte.
    private mutating func plain(
        _ message: RTMPMediaMessage, _ parameters: CodecParameters?, _ name: String, _ arrival: Int64,
        _ items: inout [SourceItem]
    ) {
        guard let parameters, self.codecs.contains(parameters.codec) else {
            self.unsupported(name)
            return
        }
        guard message.payload.count > 1 else { return self.count(\.empty) }
        self.hasSupportedTrack = true
        self.emit(parameters, &items)
        self.audioFrame(message, from: 1, arrival, &items)
    }

    private mutating func aac(_ message: RTMPMediaMessage, _ arrival: Int64, _ items: inout [SourceItem]) {
        let payload = message.payload
        guard let packetType = payload.byte(at: 1) else { return self.count(\.short) }
        self.hasSupportedTrack = true
        guard payload.count > 2 else { return self.count(\.empty) }
        if packetType == 0 {
            let record = payload.bytes(in: 2..<payload.count)
            guard AudioSpecificConfig(record: record) != nil else { return self.count(\.badConfigurations) }
            self.emit(CodecParameters(codec: .aac, configuration: record), &items)
            return
        }
        guard packetType == 1 else { return }
        var start = 2
        if let header = ADTSHeader(payload, at: 2) {
            self.counters.sanitized += 1
            start += header.size
            if self.audio?.codec != .aac, AudioSpecificConfig(record: header.configuration) != nil {
                self.emit(CodecParameters(codec: .aac, configuration: header.configuration), &items)
            }
        }
        guard self.audio?.codec == .aac else { return self.count(\.beforeConfiguration) }
        self.audioFrame(message, from: start, arrival, &items)
    }

    mutating func audioFrame(
        _ message: RTMPMediaMessage, from start: Int, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        let time = self.unwrapper.unwrap(message.timestamp)
        var packet = CodedPacket(
            kind: .audio, memory: message.payload, range: start..<message.payload.count, pts: time, dts: time,
            timescale: 1000, isKey: true, arrival: arrival)
        packet.wallClock = self.takeNoted(message.timestamp, 0)
        items.append(.packet(packet))
    }

    // MARK: Both

    mutating func emit(_ parameters: CodecParameters, _ items: inout [SourceItem]) {
        guard self.isUsable(parameters) else { return }
        var parameters = parameters
        switch parameters.kind {
        case .video:
            parameters.color = self.enhanced.color
            if self.video == parameters { return }
            // The units ahead belong to a frame of the other codec.
            if let video = self.video, video.codec != parameters.codec { self.ahead = ([], []) }
            self.video = parameters
            self.unsupportedVideo = nil
            self.timing =
                parameters.codec == .h264 ? SequenceParameterSet(record: parameters.configuration)?.timing : nil
        case .audio:
            if self.audio == parameters { return }
            self.audio = parameters
        }
        items.append(.configuration(parameters))
    }

    /// Returns false for a configuration record that is too large; it is counted, and the earlier one remains.
    mutating func isUsable(_ parameters: CodecParameters) -> Bool {
        if parameters.configuration.count <= CodecParameters.largestConfiguration { return true }
        self.counters.badConfigurations += 1
        return false
    }

    /// Counts a message that is skipped.
    mutating func count(_ counter: WritableKeyPath<Counters, Int>) { self.counters[keyPath: counter] += 1 }

    mutating func unsupported(_ codec: String) {
        self.counters.unsupported += 1
        self.unsupportedCodec = codec
    }
}
