import MediaKernels
package import MediaTypes

/// Turns the ordered packets of one track into configurations and coded packets, as the demuxers of the other protocols
/// give them out.
///
/// States of a video track: waiting for a key frame (at first, and after damage) → giving out frames. Frames are given
/// out only if they are complete and all frames since the last key frame were. Audio has no such states: each packet
/// can be decoded alone.
///
/// Times: ``CodedPacket/pts`` is the time that the caller passes in with each packet, in ticks of ``timescale``. RTP
/// has no decoding times; they are those of presentation, except for a frame whose time is not after the decoding time of
/// the frame before, by up to a second: it gets the next tick after that.
package struct MediaAssembly: Sendable {
    /// Counters of one track since its beginning.
    package struct Counters: Sendable, Hashable {
        /// Packets that were given out: frames of video, or audio packets.
        package var frames: UInt64 = 0
        package var keyFrames: UInt64 = 0
        /// Complete frames that were dropped while waiting for a key frame.
        package var dropped: UInt64 = 0
        /// Times that packets were lost in or between video frames, or between audio packets.
        package var lost: UInt64 = 0
        /// Frames or audio packets that contradict their specification.
        package var malformed: UInt64 = 0
        /// Frames that exceed a limit.
        package var tooLarge: UInt64 = 0
        /// H.264 key frames whose parameter sets are missing or uncertain.
        package var noParameterSets: UInt64 = 0
        /// Changes of the frame size, orientation excluded.
        package var sizeChanges: UInt64 = 0
    }

    /// Ticks per second of the packets' timestamps.
    package let timescale: Int32
    package let codec: CodecName
    /// Number of the track within its kind.
    package let number: UInt8
    package private(set) var counters = Counters()
    /// Size of the last key frame whose size is known, in luma samples, before rotation; nil before the first.
    package private(set) var size: FrameSize?
    /// Orientation according to the last `video-orientation` extension.
    package private(set) var orientation = VideoOrientation.upright

    private var depacketizer: (any VideoDepacketizer)?
    private var isWaiting = true
    private var hasBegun = false
    /// Whether the decoder has to begin anew for a change of the orientation.
    private var wantsRestart = false
    private var configuration: CodecParameters?
    private var lastDecoding: Int64?
    /// Reused, so that a packet costs no allocation.
    private var results: [FrameResult] = []

    /// - Parameter number: See ``CodecParameters/track``.
    /// - Returns: nil for a codec that cannot be received by RTP: other than H.264, VP8, VP9 and Opus.
    package init?(track: NegotiatedTrack, number: UInt8 = 0) {
        switch track.codec {
        case .h264: self.depacketizer = H264Depacketizer(announced: track.fmtp["sprop-parameter-sets"])
        case .vp8: self.depacketizer = VP8Depacketizer()
        case .vp9: self.depacketizer = VP9Depacketizer()
        case .opus: self.depacketizer = nil
        default: return nil
        }
        self.codec = track.codec
        self.number = number
        self.timescale = self.depacketizer == nil ? OpusPacket.clockRate : 90_000
    }

    /// Whether the sender should be asked for a key frame now: a decoder can only begin or continue with one, and none is
    /// arriving. False before the first packet, and for audio.
    package var needsKeyFrame: Bool {
        guard let depacketizer = self.depacketizer, self.hasBegun, self.isWaiting || self.wantsRestart else {
            return false
        }
        return !depacketizer.isReceivingKeyFrame
    }

    /// Takes the next packet.
    ///
    /// - Parameters:
    ///   - time: Presentation time in nanoseconds, on one line for all tracks of the publisher (``TrackPacket/time``).
    ///     The time of a frame's first packet counts.
    ///   - items: A changed configuration and the packets that are complete now are appended.
    package mutating func receive(_ packet: OrderedPacket, time: Int64, into items: inout [SourceItem]) {
        self.hasBegun = true
        guard self.depacketizer != nil else { return self.receiveAudio(packet, time, &items) }
        self.depacketizer?.receive(packet, time: time, into: &self.results)
        for result in self.results {
            switch result {
            case .whole(let frame): self.receiveFrame(frame, &items)
            case .damaged(let damage): self.receiveDamage(damage)
            }
        }
        self.results.removeAll(keepingCapacity: true)
    }

    // MARK: Video

    private mutating func receiveDamage(_ damage: FrameDamage) {
        self.isWaiting = true
        switch damage {
        case .lost: self.counters.lost += 1
        case .malformed: self.counters.malformed += 1
        case .tooLarge: self.counters.tooLarge += 1
        case .noParameterSets: self.counters.noParameterSets += 1
        }
    }

    private mutating func receiveFrame(_ frame: CodedFrame, _ items: inout [SourceItem]) {
        // Also of frames that are dropped: no later frame may carry the orientation.
        if let byte = frame.orientation { self.orientation = VideoOrientation(coordination: byte) }
        if frame.isKey {
            self.isWaiting = false
            self.wantsRestart = false
            if let size = frame.size, size != self.size {
                if self.size != nil { self.counters.sizeChanges += 1 }
                self.size = size
            }
        }
        guard !self.isWaiting else {
            self.counters.dropped += 1
            return
        }
        self.configure(frame, &items)
        self.counters.frames += 1
        if frame.isKey { self.counters.keyFrames += 1 }
        let pts = self.ticks(frame.time)
        var packet = CodedPacket(
            kind: .video, memory: frame.memory, pts: pts, dts: self.decodingTime(pts), timescale: self.timescale,
            isKey: frame.isKey, arrival: frame.arrival)
        packet.track = self.number
        items.append(.packet(packet))
    }

    private mutating func configure(_ frame: CodedFrame, _ items: inout [SourceItem]) {
        let record = frame.configuration ?? self.configuration?.configuration ?? []
        let isTurned = self.configuration.map { $0.orientation != self.orientation } ?? false
        guard isTurned || self.configuration?.configuration != record else { return }
        // A decoder that is opened for the new orientation can only begin with a key frame.
        if isTurned, !frame.isKey { self.wantsRestart = true }
        self.emit(CodecParameters(codec: self.codec, configuration: record, orientation: self.orientation), &items)
    }

    private mutating func decodingTime(_ pts: Int64) -> Int64 {
        var dts = pts
        // A step back by more than a second is a jump, not reordering.
        if let last = self.lastDecoding, pts <= last, last - pts <= Int64(self.timescale) { dts = last + 1 }
        self.lastDecoding = dts
        return dts
    }

    // MARK: Audio

    private mutating func receiveAudio(_ packet: OrderedPacket, _ time: Int64, _ items: inout [SourceItem]) {
        if packet.isAfterLoss, self.counters.frames > 0 { self.counters.lost += 1 }
        guard let opus = OpusPacket(packet.payload) else {
            self.counters.malformed += 1
            return
        }
        // One or two channels need no identification header; decoders give out two (RFC 7587 §3.2).
        if self.configuration == nil { self.emit(CodecParameters(codec: self.codec, configuration: []), &items) }
        self.counters.frames += 1
        let pts = self.ticks(time)
        var coded = CodedPacket(
            kind: .audio, memory: PacketMemory(Array(packet.payload)), pts: pts, dts: pts,
            duration: Int64(opus.duration), timescale: self.timescale, isKey: true, arrival: packet.arrival)
        coded.track = self.number
        items.append(.packet(coded))
    }

    // MARK: Both

    private func ticks(_ time: Int64) -> Int64 {
        TimeMath.rescale(time, from: TimeMath.nanoseconds, to: Int64(self.timescale))
    }

    private mutating func emit(_ parameters: CodecParameters, _ items: inout [SourceItem]) {
        var parameters = parameters
        parameters.track = self.number
        self.configuration = parameters
        items.append(.configuration(parameters))
    }
}

extension VideoOrientation {
    /// Reads the byte of the `urn:3gpp:video-orientation` extension: 0, 0, 0, 0, camera, flip, and the clockwise
    /// rotation before display in quarter turns, with two bits.
    ///
    /// Spec: 3GPP TS 26.114 §7.4.5, table 7.2.
    package init(coordination byte: UInt8) {
        self.init(quarterTurns: Int(byte & 3), isMirrored: byte & 4 != 0)
    }
}
