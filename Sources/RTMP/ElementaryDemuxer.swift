import MediaKernels
package import MediaTypes

/// Turns the access units and audio frames of a transport stream into configurations and coded packets, as
/// ``FLVDemuxer`` does for RTMP.
///
/// Pure. The configurations are made from parameter sets and ADTS headers in the stream. Nothing in here can fail: data
/// that cannot be read is dropped and counted.
///
/// Spec: ISO/IEC 13818-1 §2.4.3.7 (90 kHz, 33 bits).
package struct ElementaryDemuxer: Sendable {
    /// Counters of units that were dropped or repaired. Here ``FLVDemuxer/Counters/malformed`` also counts units that are empty, too
    /// large, without a known timestamp, or that arrive after a change of codec.
    package private(set) var counters = FLVDemuxer.Counters()
    /// The codec of the last unit that was not supported; nil if there was none.
    package private(set) var unsupportedCodec: String?
    /// True if at least one track has a supported codec.
    package private(set) var hasSupportedTrack = false
    /// The codec of the main video track if no supported video has arrived; otherwise nil.
    package private(set) var unsupportedVideo: String?

    /// The codec that a track has changed to although the stream still announces another one; nil: no change. Later
    /// units cannot be read: libavformat parses a stream by the codec its PID had first, whatever the tables say later.
    package private(set) var changedCodec: CodecName?

    /// Ticks per second of the timestamps of every packet.
    package static let timescale: Int32 = 90_000
    /// Maximum number of audio tracks.
    package static let maximumAudioTracks: UInt8 = 4

    private let codecs: Set<CodecName>
    private let maximumBytes: Int
    private var clock = ClockUnwrapper()
    private var video: CodecParameters?
    private var audio: [UInt8: CodecParameters] = [:]
    /// For each track, where the next frame without a timestamp begins: in ticks, and the remainder of a tick as a
    /// fraction of its sample rate.
    private var following: [UInt8: (pts: Int64, rest: Int64)] = [:]
    private var timing: PictureTimingRules?
    /// Timestamps of the last video frame.
    private var lastPicture: (pts: Int64, dts: Int64)?

    /// Creates a demuxer for one publication.
    ///
    /// - Parameters:
    ///   - codecs: Codecs that are accepted.
    ///   - maximumBytes: Maximum size of a unit in bytes; larger ones are dropped.
    package init(codecs: Set<CodecName> = FLVDemuxer.usualCodecs, maximumBytes: Int = 8 << 20) {
        self.codecs = codecs
        self.maximumBytes = maximumBytes
    }

    /// Reads one access unit or audio frame.
    ///
    /// - Parameters:
    ///   - arrival: Nanoseconds of the process's monotonic clock.
    ///   - items: Receives the configuration if it has changed, and the packet.
    package mutating func receive(_ unit: MPEGTSUnit, arrival: Int64, into items: inout [SourceItem]) {
        guard unit.track < (unit.kind == .video ? 1 : Self.maximumAudioTracks) else { return self.count(\.extraTracks) }
        guard let codec = unit.codec, self.codecs.contains(codec) else {
            self.counters.unsupported += 1
            self.unsupportedCodec = unit.codecName
            if unit.kind == .video, self.video == nil { self.unsupportedVideo = unit.codecName }
            return
        }
        self.hasSupportedTrack = true
        guard unit.payload.count > 0, unit.payload.count <= self.maximumBytes else { return self.count(\.malformed) }
        if self.changedCodec == nil { self.changedCodec = Self.change(of: unit, from: codec) }
        guard self.changedCodec == nil else { return self.count(\.malformed) }
        switch unit.kind {
        case .video: self.picture(unit, codec, arrival, &items)
        case .audio: self.audioFrame(unit, codec, arrival, &items)
        }
    }

    // MARK: Video

    private mutating func picture(
        _ unit: MPEGTSUnit, _ codec: CodecName, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        let range = 0..<unit.payload.count
        let isKey: Bool
        switch codec {
        case .h264:
            isKey =
                unit.types.contains(.idr)
                || unit.types.contains(.sei) && RecoveryPoint.isAtOnce(unit.payload, in: range)
            if unit.types.contains(.sps), unit.types.contains(.pps) { self.configureAVC(unit.payload, isKey, &items) }
        case .hevc:
            let units = HEVCUnits(unit.payload, in: range)
            isKey = units.isKey
            if let configuration = HEVCConfiguration(units) {
                self.emit(CodecParameters(codec: .hevc, configuration: configuration.record), unit.track, &items)
            }
        default:
            // There is no agreed transport stream mapping of the other codecs.
            self.counters.unsupported += 1
            self.unsupportedCodec = unit.codecName
            return
        }
        guard self.video?.codec == codec else { return self.count(\.beforeConfiguration) }
        guard let (pts, dts) = self.times(ofPicture: unit) else { return self.count(\.malformed) }
        var packet = CodedPacket(
            kind: .video, memory: unit.payload, range: range, pts: pts, dts: dts, timescale: Self.timescale,
            isKey: isKey, arrival: arrival)
        if codec == .h264, unit.types.contains(.sei) {
            packet.wallClock = SupplementalTime.find(unit.payload, in: range, timing: self.timing)
        }
        items.append(.packet(packet))
    }

    /// Returns the timestamps of the unit, in ticks. A unit without timestamps gets those of the video frame before it:
    /// only the first frame that begins in a PES packet has timestamps, and both fields of an interlaced frame often
    /// share one packet.
    private mutating func times(ofPicture unit: MPEGTSUnit) -> (pts: Int64, dts: Int64)? {
        guard let pts = unit.pts ?? unit.dts else { return self.lastPicture }
        let dts = self.clock.unwrap(unit.dts ?? pts)
        var offset = ClockUnwrapper.step(from: unit.dts ?? pts, to: pts)
        if offset.magnitude > 15 * 60 * 90_000 {
            self.counters.badCompositionOffsets += 1
            offset = 0
        }
        self.lastPicture = (dts + offset, dts)
        return (dts + offset, dts)
    }

    /// Emits a configuration made from the parameter sets in the stream: if there is none for H.264 yet, and at a key
    /// frame with a parameter set that the last one does not contain.
    private mutating func configureAVC(_ payload: PacketMemory, _ isKey: Bool, _ items: inout [SourceItem]) {
        if self.video?.codec == .h264, !isKey { return }
        let sets = ParameterSets(payload, in: 0..<payload.count)
        if let known = self.video.flatMap({ AVCRecord(record: $0.configuration) }),
            sets.sequence.allSatisfy({ known.sequenceParameterSets.contains($0) }),
            sets.picture.allSatisfy({ known.pictureParameterSets.contains($0) })
        {
            return
        }
        guard
            let configuration = AVCRecord(
                sequenceParameterSets: sets.sequence, pictureParameterSets: sets.picture)
        else { return self.count(\.badConfigurations) }
        self.emit(CodecParameters(codec: .h264, configuration: configuration.record), 0, &items)
    }

    // MARK: Audio

    private mutating func audioFrame(
        _ unit: MPEGTSUnit, _ codec: CodecName, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        var start = 0
        var samples: (count: Int64, rate: Int64)?
        var parameters = CodecParameters(codec: codec, configuration: [])
        if codec == .aac {
            guard let header = ADTSHeader(unit.payload, at: 0),
                let config = AudioSpecificConfig(record: header.configuration)
            else { return self.count(\.malformed) }
            start = header.size
            samples = (1024, Int64(config.sampleRate))
            parameters = CodecParameters(codec: .aac, configuration: header.configuration)
        }
        parameters.track = unit.track
        guard let pts = self.time(of: unit, samples) else { return self.count(\.malformed) }
        self.emit(parameters, unit.track, &items)
        var packet = CodedPacket(
            kind: .audio, memory: unit.payload, range: start..<unit.payload.count, pts: pts, dts: pts,
            timescale: Self.timescale, isKey: true, arrival: arrival)
        packet.track = unit.track
        items.append(.packet(packet))
    }

    /// Returns the timestamp of the unit, in ticks. Senders put several frames behind one timestamp; a frame without
    /// one begins where the frame before it ended; nil if that is not known.
    private mutating func time(of unit: MPEGTSUnit, _ samples: (count: Int64, rate: Int64)?) -> Int64? {
        let said = (unit.pts ?? unit.dts).map { self.clock.unwrap($0) }
        let estimated = self.following[unit.track]
        guard let pts = said ?? estimated?.pts else { return nil }
        guard let samples, samples.rate > 0 else {
            self.following[unit.track] = unit.duration > 0 ? (pts + unit.duration, 0) : nil
            return pts
        }
        let ticks = samples.count * Int64(Self.timescale) + (said == nil ? estimated?.rest ?? 0 : 0)
        self.following[unit.track] = (pts + ticks / samples.rate, ticks % samples.rate)
        return pts
    }

    private mutating func count(_ counter: WritableKeyPath<FLVDemuxer.Counters, Int>) {
        self.counters[keyPath: counter] += 1
    }

    private mutating func emit(_ parameters: CodecParameters, _ track: UInt8, _ items: inout [SourceItem]) {
        guard parameters.configuration.count <= CodecParameters.largestConfiguration else {
            return self.count(\.badConfigurations)
        }
        switch parameters.kind {
        case .video:
            if self.video == parameters { return }
            self.video = parameters
            self.unsupportedVideo = nil
            self.timing =
                parameters.codec == .h264 ? SequenceParameterSet(record: parameters.configuration)?.timing : nil
        case .audio:
            if self.audio[track] == parameters { return }
            self.audio[track] = parameters
        }
        items.append(.configuration(parameters))
    }
}

/// Extends 33-bit timestamps to 64 bits that never wrap; the stream's clock wraps every 26.5 hours.
///
/// One unwrapper serves all tracks of a stream, so that they wrap together. A step of less than half the range is taken
/// as the shorter direction.
package struct ClockUnwrapper: Sendable {
    private static let range: Int64 = 1 << 33
    private var last: Int64?

    package init() {}

    /// The difference `to` minus `from` of two 33-bit timestamps in the shorter direction.
    static func step(from: Int64, to: Int64) -> Int64 {
        let difference = (to &- from) & (self.range - 1)
        return difference >= self.range / 2 ? difference - self.range : difference
    }

    package mutating func unwrap(_ time: Int64) -> Int64 {
        let time = time & (Self.range - 1)
        let unwrapped = self.last.map { $0 &+ Self.step(from: $0, to: time) } ?? time
        self.last = unwrapped
        return unwrapped
    }
}
