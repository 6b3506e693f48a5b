import MediaKernels
package import MediaTypes

/// Turns the audio and video messages of one publication into configurations and coded packets.
///
/// Pure. Truth is the payload: neither the metadata nor the FLV header's rate, size and key flags are believed. Nothing
/// in here can fail: what cannot be read is dropped and counted.
///
/// Spec: Video File Format 10.1 Annex E.4.2, E.4.3.
package struct FLVDemuxer: Sendable {
    /// What was dropped or mended so far, in messages.
    package struct Counters: Sendable, Hashable {
        /// Shorter than their header.
        package var short = 0
        /// Empty messages, empty frames, frames of empty NAL units.
        package var empty = 0
        /// Frames whose NAL units could not be found.
        package var malformed = 0
        /// Frames rewritten to four-byte lengths without empty units.
        package var sanitized = 0
        /// Records that no decoder should see.
        package var badConfigurations = 0
        /// Packets before the first configuration.
        package var beforeConfiguration = 0
        /// Composition offsets over 15 minutes, read as 0.
        package var badCompositionOffsets = 0
        /// Messages in codecs that are not supported.
        package var unsupported = 0
        /// Packets of tracks beyond those that are used.
        package var extraTracks = 0
        /// Enhanced headers that end before they are complete, or break off among the tracks.
        package var badHeaders = 0

        package init() {}
    }

    package internal(set) var counters = Counters()
    /// The codec of the last message that was not supported, for the publisher to read; nil when there was none.
    package private(set) var unsupportedCodec: String?
    /// At least one track is in a codec we read.
    package internal(set) var hasSupportedTrack = false
    /// The codec of the main video track, while all that came of that is not supported.
    package internal(set) var unsupportedVideo: String?

    var unwrapper = TimestampUnwrapper()
    var video: CodecParameters?
    var audio: CodecParameters?
    var lengthSize = 4
    /// The last sequence header that was read, in one form. Encoders repeat it.
    var videoHeader: [UInt8]?

    let codecs: Set<CodecName>
    /// What nearly every packet is in, without a look into the set.
    private let takesH264: Bool
    private let takesAAC: Bool
    /// What is behind the tracks of Enhanced RTMP.
    var enhanced = EnhancedState()
    private var timing: PictureTimingRules?
    /// What came ahead of a picture in messages of its own, in the one form, until that takes it, or another sequence header says
    /// that it will not come; see ``joined(_:)``. The types are H.264's.
    var ahead: (bytes: [UInt8], types: NALTypes) = ([], [])
    /// Bytes of that.
    static let mostAhead = 64 << 10
    /// What a data message said of the time, until the next packet takes it.
    private var noted: (time: WallClockTime, timestamp: UInt32)?

    /// - Parameter codecs: What may come in; everything else is dropped and named by ``unsupportedCodec``.
    package init(codecs: Set<CodecName> = FLVDemuxer.usualCodecs) {
        self.codecs = codecs
        self.takesH264 = codecs.contains(.h264)
        self.takesAAC = codecs.contains(.aac)
    }

    /// What nearly every publisher sends.
    package static let usualCodecs: Set<CodecName> = [.h264, .aac, .mp3]

    /// Takes note of what a data message says the time is at `timestamp`. The next packet carries it.
    package mutating func note(_ time: WallClockTime, at timestamp: UInt32) { self.noted = (time, timestamp) }

    /// What was noted, as the time of a packet `milliseconds` after its `timestamp`.
    mutating func takeNoted(_ timestamp: UInt32, _ milliseconds: Int64) -> WallClockTime? {
        guard let noted = self.noted else { return nil }
        self.noted = nil
        let apart = Int64(Int32(bitPattern: timestamp &- noted.timestamp)) + milliseconds
        // A message far from any media is about something else: metadata is stamped 0 whenever it comes.
        guard apart.magnitude <= 2_000 else { return nil }
        var time = noted.time
        time.nanoseconds &+= apart * 1_000_000
        return time
    }

    /// Reads one message.
    ///
    /// - Parameters:
    ///   - arrival: Nanoseconds of the process's monotonic clock.
    ///   - items: Gets the configuration when it differs from the one before, and the packet.
    package mutating func receive(_ message: RTMPMediaMessage, arrival: Int64, into items: inout [SourceItem]) {
        // An empty audio message means "silence" in Enhanced RTMP; there is nothing to decode either way.
        guard let first = message.payload.byte(at: 0) else {
            self.counters.empty += 1
            return
        }
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
        // A command frame (type 5) carries one byte for the player, no picture.
        if first >> 4 == 5 { return }
        guard first & 0x0F == FLVCodec.avc, self.takesH264 else {
            self.plainVideo(message, first, arrival, &items)
            return
        }
        guard let packetType = message.payload.byte(at: 1), let offset = message.payload.unsigned24(at: 2) else {
            self.counters.short += 1
            return
        }
        self.hasSupportedTrack = true
        switch packetType {
        case 0: self.configure(video: message.payload.bytes(in: 5..<message.payload.count), &items)
        case 1: self.picture(message, from: 5, FLVDemuxer.signed24(offset), arrival, &items)
        default: break  // End of sequence: encoders send it in the middle too, and go on.
        }
    }

    /// `SI24`: 24 bits, two's complement.
    static func signed24(_ value: UInt32) -> Int64 { Int64(Int32(bitPattern: value << 8) >> 8) }

    mutating func configure(video record: [UInt8], _ items: inout [SourceItem]) {
        if record.isEmpty {
            self.counters.empty += 1
            return
        }
        guard let configuration = AVCRecord(record: record) else {
            self.counters.badConfigurations += 1
            return
        }
        let canonical = configuration.record
        guard canonical.count <= CodecParameters.largestConfiguration else {
            self.counters.badConfigurations += 1
            return
        }
        self.lengthSize = configuration.lengthSize
        if self.video?.codec == .h264 {
            // Once more what is known already: parameter sets that came in band since then still hold.
            if self.videoHeader == canonical { return }
            // What came ahead belongs to a picture that never came. Its parameter sets would take the place of the new ones.
            self.ahead = ([], [])
        }
        self.videoHeader = canonical
        self.emit(CodecParameters(codec: .h264, configuration: canonical), &items)
    }

    /// - Parameter start: Where the NAL units begin.
    mutating func picture(
        _ message: RTMPMediaMessage, from start: Int, _ offset: Int64, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        guard let unit = self.sanitized(message.payload, from: start), let (memory, range, types) = self.joined(unit)
        else { return }
        if types.contains(.sps) && types.contains(.pps) { self.parameterSets(memory, range, types, &items) }
        guard self.video?.codec == .h264 else {
            self.counters.beforeConfiguration += 1
            return
        }
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

    /// The units of an H.264 picture, behind those that came in messages of their own before it: some encoders send parameter
    /// sets and SEI so. A decoder calls a packet without a picture damaged, and who counts pictures counts one too many.
    ///
    /// - Returns: `nil` for what is no picture: it is kept for the next one, if it says something about that.
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

    /// The NAL units from `start` on, in the one form; `nil`, and counted, when there are none.
    ///
    /// - Returns: The types are H.264's.
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

    /// A composition offset in milliseconds, or 0 for one that cannot be meant.
    mutating func checked(_ offset: Int64) -> Int64 {
        guard offset.magnitude > 15 * 60 * 1000 else { return offset }
        self.counters.badCompositionOffsets += 1
        return 0
    }

    /// Parameter sets in the stream. Before any sequence header they make the configuration. Later, at a key picture, a
    /// sequence parameter set that is not in it is a new one: decoders read it in band, but whoever joins afterwards,
    /// a relay or a decoder that is opened anew, must begin with it.
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
        // Lengths in the payload are as the sequence header said, if there was one.
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
        default: self.plain(message, FLVCodec.plainSound(first), FLVCodec.audioName(first >> 4), arrival, &items)
        }
    }

    /// Sound behind one header byte.
    private mutating func plain(
        _ message: RTMPMediaMessage, _ parameters: CodecParameters?, _ name: String, _ arrival: Int64,
        _ items: inout [SourceItem]
    ) {
        guard let parameters, self.codecs.contains(parameters.codec) else {
            self.unsupported(name)
            return
        }
        guard message.payload.count > 1 else {
            self.counters.empty += 1
            return
        }
        self.hasSupportedTrack = true
        self.emit(parameters, &items)
        self.sound(message, from: 1, arrival, &items)
    }

    private mutating func aac(_ message: RTMPMediaMessage, _ arrival: Int64, _ items: inout [SourceItem]) {
        let payload = message.payload
        guard let packetType = payload.byte(at: 1) else {
            self.counters.short += 1
            return
        }
        self.hasSupportedTrack = true
        guard payload.count > 2 else {
            self.counters.empty += 1
            return
        }
        if packetType == 0 {
            let record = payload.bytes(in: 2..<payload.count)
            guard AudioSpecificConfig(record: record) != nil else {
                self.counters.badConfigurations += 1
                return
            }
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
        guard self.audio?.codec == .aac else {
            self.counters.beforeConfiguration += 1
            return
        }
        self.sound(message, from: start, arrival, &items)
    }

    mutating func sound(
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
            // What another codec's pictures would have begun with.
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

    /// A record that is too large to be one is counted and not passed on: the one before holds.
    mutating func isUsable(_ parameters: CodecParameters) -> Bool {
        if parameters.configuration.count <= CodecParameters.largestConfiguration { return true }
        self.counters.badConfigurations += 1
        return false
    }

    mutating func unsupported(_ codec: String) {
        self.counters.unsupported += 1
        self.unsupportedCodec = codec
    }
}
