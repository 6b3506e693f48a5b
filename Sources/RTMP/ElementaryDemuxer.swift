import MediaKernels
package import MediaTypes

/// Turns the access units and sound frames of a transport stream into configurations and coded packets: what ``FLVDemuxer`` is
/// for RTMP.
///
/// Pure. Parameter sets and ADTS headers in the stream make the configurations. Nothing in here can fail: what cannot be read
/// is dropped and counted.
///
/// Spec: ISO/IEC 13818-1 §2.4.3.7 (90 kHz, 33 bits).
package struct ElementaryDemuxer: Sendable {
    /// What was dropped so far, in units.
    package private(set) var counters = FLVDemuxer.Counters()
    /// The codec of the last unit that was not supported; nil when there was none.
    package private(set) var unsupportedCodec: String?
    /// At least one track is in a codec we read.
    package private(set) var hasSupportedTrack = false
    /// The codec of the main video track, while all that came of that is not supported.
    package private(set) var unsupportedVideo: String?

    /// What the units of a track have turned into behind the name of another codec; nil: nothing has changed. They cannot be read
    /// from here on: libavformat parts a stream by the codec its PID had first, whatever the tables say later.
    package private(set) var changedCodec: CodecName?

    /// Ticks per second of every packet.
    package static let timescale: Int32 = 90_000
    /// Tracks of sound that are used.
    package static let maximumAudioTracks: UInt8 = 4

    private let codecs: Set<CodecName>
    private let maximumBytes: Int
    private var clock = ClockUnwrapper()
    private var video: CodecParameters?
    private var audio: [UInt8: CodecParameters] = [:]
    /// Where the next frame of each track begins that does not say so itself, in ticks, and what of a tick is left over, in
    /// fractions of its sample rate.
    private var following: [UInt8: (pts: Int64, rest: Int64)] = [:]
    private var timing: PictureTimingRules?
    /// Times of the last picture.
    private var lastPicture: (pts: Int64, dts: Int64)?

    /// - Parameters:
    ///   - codecs: What may come in.
    ///   - maximumBytes: Larger units are dropped.
    package init(codecs: Set<CodecName> = FLVDemuxer.usualCodecs, maximumBytes: Int = 8 << 20) {
        self.codecs = codecs
        self.maximumBytes = maximumBytes
    }

    /// - Parameters:
    ///   - arrival: Nanoseconds of the process's monotonic clock.
    ///   - items: Gets the configuration when it differs from the one before, and the packet.
    package mutating func receive(_ unit: TransportUnit, arrival: Int64, into items: inout [SourceItem]) {
        guard unit.track < (unit.kind == .video ? 1 : Self.maximumAudioTracks) else {
            self.counters.extraTracks += 1
            return
        }
        guard let codec = unit.codec, self.codecs.contains(codec) else {
            self.counters.unsupported += 1
            self.unsupportedCodec = unit.codecName
            if unit.kind == .video, self.video == nil { self.unsupportedVideo = unit.codecName }
            return
        }
        self.hasSupportedTrack = true
        guard unit.payload.count > 0, unit.payload.count <= self.maximumBytes else {
            self.counters.malformed += 1
            return
        }
        if self.changedCodec == nil { self.changedCodec = Self.change(of: unit, from: codec) }
        guard self.changedCodec == nil else {
            self.counters.malformed += 1
            return
        }
        switch unit.kind {
        case .video: self.picture(unit, codec, arrival, &items)
        case .audio: self.sound(unit, codec, arrival, &items)
        }
    }

    // MARK: Video

    private mutating func picture(
        _ unit: TransportUnit, _ codec: CodecName, _ arrival: Int64, _ items: inout [SourceItem]
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
            // A transport stream has no agreed form for the others.
            self.counters.unsupported += 1
            self.unsupportedCodec = unit.codecName
            return
        }
        guard self.video?.codec == codec else {
            self.counters.beforeConfiguration += 1
            return
        }
        guard let (pts, dts) = self.times(ofPicture: unit) else {
            self.counters.malformed += 1
            return
        }
        var packet = CodedPacket(
            kind: .video, memory: unit.payload, range: range, pts: pts, dts: dts, timescale: Self.timescale,
            isKey: isKey, arrival: arrival)
        if codec == .h264, unit.types.contains(.sei) {
            packet.wallClock = SupplementalTime.find(unit.payload, in: range, timing: self.timing)
        }
        items.append(.packet(packet))
    }

    /// What the unit says; or, of one that says nothing, what the picture before it had: only the first of the pictures that begin in
    /// one PES packet has times, and of interlaced video both fields of a frame often stand in one.
    private mutating func times(ofPicture unit: TransportUnit) -> (pts: Int64, dts: Int64)? {
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

    /// The sets of the stream, at its beginning and at a key picture whose sets are others.
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
        else {
            self.counters.badConfigurations += 1
            return
        }
        self.emit(CodecParameters(codec: .h264, configuration: configuration.record), 0, &items)
    }

    // MARK: Audio

    private mutating func sound(
        _ unit: TransportUnit, _ codec: CodecName, _ arrival: Int64, _ items: inout [SourceItem]
    ) {
        var start = 0
        var samples: (count: Int64, rate: Int64)?
        var parameters = CodecParameters(codec: codec, configuration: [])
        if codec == .aac {
            guard let header = ADTSHeader(unit.payload, at: 0),
                let config = AudioSpecificConfig(record: header.configuration)
            else {
                self.counters.malformed += 1
                return
            }
            start = header.size
            samples = (1024, Int64(config.sampleRate))
            parameters = CodecParameters(codec: .aac, configuration: header.configuration)
        }
        parameters.track = unit.track
        guard let pts = self.time(of: unit, samples) else {
            self.counters.malformed += 1
            return
        }
        self.emit(parameters, unit.track, &items)
        var packet = CodedPacket(
            kind: .audio, memory: unit.payload, range: start..<unit.payload.count, pts: pts, dts: pts,
            timescale: Self.timescale, isKey: true, arrival: arrival)
        packet.track = unit.track
        items.append(.packet(packet))
    }

    /// What the unit says; or, since senders put several frames behind one time, where the frame before it ended.
    private mutating func time(of unit: TransportUnit, _ samples: (count: Int64, rate: Int64)?) -> Int64? {
        let said = (unit.pts ?? unit.dts).map { self.clock.unwrap($0) }
        let reckoned = self.following[unit.track]
        guard let pts = said ?? reckoned?.pts else { return nil }
        guard let samples, samples.rate > 0 else {
            self.following[unit.track] = unit.duration > 0 ? (pts + unit.duration, 0) : nil
            return pts
        }
        let ticks = samples.count * Int64(Self.timescale) + (said == nil ? reckoned?.rest ?? 0 : 0)
        self.following[unit.track] = (pts + ticks / samples.rate, ticks % samples.rate)
        return pts
    }

    private mutating func emit(_ parameters: CodecParameters, _ track: UInt8, _ items: inout [SourceItem]) {
        guard parameters.configuration.count <= CodecParameters.largestConfiguration else {
            self.counters.badConfigurations += 1
            return
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

/// Turns 33-bit times into 64-bit ones that never wrap: every 26 and a half hours the stream's clock begins again.
///
/// One serves all tracks of a stream, so that they wrap together. A step of less than half the range goes the short way round.
package struct ClockUnwrapper: Sendable {
    private static let range: Int64 = 1 << 33
    private var last: Int64?

    package init() {}

    /// From one time to another, the short way round.
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
