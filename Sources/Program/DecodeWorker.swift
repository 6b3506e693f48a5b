import LibAV
import MediaTypes

/// The decoders and the timeline of a source, used only on its thread.
struct DecodeWorker {
    let stage: DecodeStage
    let settings: DecodeStage.Settings
    let clock: ProgramClock
    var timeline: SourceTimeline
    /// Live packets that are not due yet.
    var schedule = PacketSchedule()
    /// Measures how late this thread is; excludes lateness that a change of the timeline causes.
    var placing = LatenessFilter()
    var video: VideoTrack
    var videoCodec: CodecName?
    /// Packets that are not decoded while the source is hidden.
    var withheld = HiddenSourceQueue()
    /// Whether packets that the next ones refer to were discarded, so that decoding waits for a key frame.
    var hasGap = false { didSet { self.gapLength = 0 } }
    /// Number of frames skipped since the gap began.
    var gapLength = 0
    var keys = KeyframeInterval()
    /// The last announced coding parameters, and the operator's rotation at that time.
    var told: (parameters: CodecParameters, rotation: Int)?
    /// Number of publications that have ended.
    var ended = 0
    /// Numbers of the frames inside the decoder that will not be shown.
    private var past: Set<Int64> = []
    private var audioTracks: [UInt8: AudioTrackDecoder] = [:]
    /// The audio track whose timestamps steer the timeline, and the program time of its last packet.
    private var leading: (track: UInt8, arrival: Int64)?
    /// Times of the frames inside the decoder, by number. Each packet gets a number as its pts for the decoder, because
    /// a publisher's own timestamps need not be unique.
    private var arrivals: [Int64: (time: Int64, arrival: Int64?)] = [:]
    private var nextNumber: Int64 = 0
    private var gate: FrameRateLimiter
    private(set) var format: PictureFormat?
    private var hasAudio = false
    private var pictureSeams = 0
    private var processing = ProcessingFollower()
    /// Crash marks that are raised while libavcodec processes data of the source.
    private var marks: [TrackKind: CrashMark] = [:]

    var place: String { "decode[\(self.settings.source)]" }
    var buffer: SourceBuffer { self.stage.buffer }

    init(stage: DecodeStage, settings: DecodeStage.Settings, clock: ProgramClock) {
        self.stage = stage
        self.settings = settings
        self.clock = clock
        self.video = VideoTrack(
            settings: VideoTrack.Settings(
                threads: settings.threads, maxPixels: settings.maxPixels, holdsDamaged: settings.holdsDamaged,
                place: "decode[\(settings.source)]"))
        self.timeline = SourceTimeline(
            jitterBuffer: stage.jitterBuffer, maxJitterBuffer: settings.maxJitterBuffer,
            offset: stage.wantedOffset, maxDriftPpm: settings.maxDriftPpm, audioLead: settings.audioLead)
        self.gate = FrameRateLimiter(fps: settings.maxFps)
        // The file reader has already shifted the first timestamp to zero.
        if stage.buffer.isPaced { self.timeline.anchor(timestamp: 0, at: 0) }
    }

    /// Handles one item of a file that paces the program.
    mutating func handle(_ item: SourceItem) {
        switch item {
        case .configuration(let parameters): self.configure(parameters)
        case .packet(let packet):
            let (pts, dts) = Self.times(of: packet)
            let mapped = self.timeline.map(kind: packet.kind, pts: pts, dts: dts, arrival: nil)
            self.decode(packet, pts: mapped.pts, arrival: nil)
        case .end: self.end()
        }
    }

    /// Presentation and decoding time of a packet, in nanoseconds.
    static func times(of packet: CodedPacket) -> (pts: Int64, dts: Int64) {
        let scale = Int64(packet.timescale)
        return (
            TimeMath.rescale(packet.pts, from: scale, to: TimeMath.nanoseconds),
            TimeMath.rescale(packet.dts, from: scale, to: TimeMath.nanoseconds)
        )
    }

    mutating func configure(_ parameters: CodecParameters) {
        if self.settings.isAudioOnly, parameters.kind == .video { return }
        if let codecs = self.settings.codecs, !codecs.contains(parameters.codec) {
            // Ingest rejects such codecs already; this makes sure that no decoder is opened for a codec that the
            // pipeline does not list.
            self.stage.report(.undecodable(.notListed(parameters.codec, at: self.place)))
            return
        }
        let mark = CrashMark(DecoderMark.line(self.settings.source, parameters.codec))
        self.marks[parameters.kind] = mark
        mark.raise()
        defer { mark.lower() }
        switch parameters.kind {
        case .video:
            self.tellCoding(parameters)
            self.decodeWithheld()
            self.hasGap = false
            self.videoCodec = parameters.codec
            self.take(self.video.configure(parameters, rotation: self.stage.rotation, now: self.openingTime))
        case .audio:
            do {
                var track = self.audioTracks.removeValue(forKey: parameters.track) ?? self.makeAudioTrack()
                defer { self.audioTracks[parameters.track] = track }
                try track.configure(parameters, now: self.openingTime)
            } catch {
                self.stage.report(.undecodable(error))
            }
        }
    }

    /// Clock for limiting how often decoders are opened; `nil`: no limit, for the operator's own files.
    private var openingTime: Int64? {
        self.buffer.isPaced || self.settings.isFile ? nil : self.clock.now()
    }

    private func makeAudioTrack() -> AudioTrackDecoder {
        AudioTrackDecoder(sampleRate: self.settings.sampleRate, limitPPB: self.timeline.glideLimit, place: self.place)
    }

    /// Whether a packet of this audio track steers the timeline. Only one track does, so that jumps and drift are
    /// detected once; another track takes over when that one has been silent for a second.
    mutating func leads(_ track: UInt8, at arrival: Int64) -> Bool {
        if let leading, leading.track != track, arrival &- leading.arrival < TimeMath.nanoseconds { return false }
        self.leading = (track, arrival)
        return true
    }

    /// Shows the frames of an outcome of the video track, and reports its failure.
    private mutating func take(_ outcome: VideoTrack.Outcome) {
        if outcome.isSkipped { self.stage.count { $0.dropped += 1 } }
        if outcome.isDamaged { self.stage.count { $0.damaged += 1 } }
        if outcome.isReopened { self.stage.count { $0.reopened += 1 } }
        for picture in outcome.frames { self.show(picture) }
        if let failure = outcome.failure { self.stage.report(.undecodable(failure)) }
    }

    /// Handles a packet that is due: decodes it into the source's buffer, or withholds video of a hidden source.
    ///
    /// - Parameter pts: Program time, in nanoseconds.
    mutating func decode(_ packet: CodedPacket, pts: Int64, arrival: Int64?) {
        let mark = self.marks[packet.kind]
        mark?.raise()
        defer { mark?.lower() }
        switch packet.kind {
        case .video:
            if self.settings.isAudioOnly {
                self.stage.count { ($0.videoPackets, $0.undecoded) = ($0.videoPackets + 1, $0.undecoded + 1) }
            } else {
                self.decodeVideo(packet, pts, arrival)
            }
        case .audio: self.decodeAudio(packet, pts)
        }
    }

    /// Decodes a video packet now, and outputs the frames that are ready.
    ///
    /// - Parameter isPast: The frame will not be shown: it is decoded only as a reference of later ones.
    mutating func decodeNow(_ packet: CodedPacket, _ pts: Int64, _ arrival: Int64?, isPast: Bool = false) {
        var numbered = packet
        numbered.pts = self.nextNumber
        numbered.dts = self.nextNumber
        self.nextNumber += 1
        self.arrivals[numbered.pts] = (pts, arrival)
        if isPast { self.past.insert(numbered.pts) }
        // Withheld frames do not come through ``decode(_:pts:arrival:)``, which raises the mark too.
        let mark = self.marks[.video]
        mark?.raise()
        defer { mark?.lower() }
        let began = self.clock.now()
        var outcome = self.video.decode(
            numbered, rotation: self.stage.rotation, past: self.past,
            skipsLoopFilter: self.buffer.need.skipsLoopFilter, now: self.openingTime)
        if let began, !outcome.isSkipped, let now = self.clock.now() { self.stage.note(decodeTime: now &- began) }
        for number in outcome.leftOut {
            self.past.remove(number)
            self.arrivals[number] = nil
        }
        if outcome.isSkipped { self.arrivals[numbered.pts] = nil }
        self.take(outcome)
        self.video.reuse(&outcome)
        if self.video.awaitsKeyFrame, !self.buffer.need.isHidden { self.stage.wantKeyFrame() }
        // If a decoder drops frames, their times remain; remove those older than any reorder depth.
        let oldest = self.nextNumber - 64
        if self.arrivals.count > 64 { self.arrivals = self.arrivals.filter { $0.key >= oldest } }
        if self.past.count > 64 { self.past = self.past.filter { $0 >= oldest } }
    }

    private mutating func show(_ picture: Picture) {
        guard let number = picture.pts, let (time, arrival) = self.arrivals.removeValue(forKey: number) else { return }
        if self.format != picture.format {
            self.stage.report(self.format == nil ? .firstFrame(picture.format) : .formatChanged(picture.format))
            self.format = picture.format
        }
        if !self.buffer.isPaced, !self.gate.passes(time) {
            self.stage.count { $0.thinned += 1 }
            return
        }
        if self.pictureSeams != self.timeline.seams {
            self.pictureSeams = self.timeline.seams
            self.buffer.beginAnew()
        }
        self.buffer.push(picture, time: time, arrival: arrival)
    }

    private mutating func decodeAudio(_ packet: CodedPacket, _ pts: Int64) {
        self.stage.count { $0.audioPackets += 1 }
        // Taken out of the dictionary while it is changed, so that it is not copied.
        guard var track = self.audioTracks.removeValue(forKey: packet.track) else { return }
        defer { self.audioTracks[packet.track] = track }
        do {
            try track.openDeferred(now: self.openingTime)
        } catch {
            self.stage.report(.undecodable(error))
        }
        guard track.isOpen else {
            self.stage.count { $0.dropped += 1 }
            return
        }
        let position = TimeMath.rescale(pts, from: TimeMath.nanoseconds, to: Int64(self.settings.sampleRate))
        if let state = self.processing.follow(self.stage) { self.stage.report(.noiseSuppression(state)) }
        track.prepare(self.processing.current)
        let isIntact =
            self.buffer.isPaced
            ? track.lay(packet, at: position, in: self.buffer)
            : track.place(packet, at: position, seams: self.timeline.seams, in: self.buffer)
        if let failure = track.takeNoiseFailure() { self.stage.report(.noiseSuppression(.failed(failure))) }
        if !isIntact { self.stage.count { $0.damaged += 1 } }
        if case .reopened(let failure) = track.judge(isIntact, now: self.openingTime) {
            self.stage.count { $0.reopened += 1 }
            if let failure { self.stage.report(.undecodable(failure)) }
        }
        if !self.hasAudio {
            self.hasAudio = true
            self.stage.report(.firstAudio)
        }
    }

    mutating func end() {
        self.ended &+= 1
        self.tell(.end)
        let mark = self.marks[.video]
        mark?.raise()
        defer { mark?.lower() }
        self.decodeWithheld()
        self.hasGap = false
        self.keys = KeyframeInterval()
        self.take(self.video.finish(rotation: self.stage.rotation))
        self.video.reset()
        self.arrivals.removeAll()
        // The next publication may have other tracks. Those with the same numbers keep their limits for opening
        // decoders.
        let buffer = self.buffer
        for track in Array(self.audioTracks.keys) { self.audioTracks[track]?.end(track, in: buffer) }
        self.leading = nil
        self.format = nil
        self.hasAudio = false
        self.timeline.reset()
        self.settings.aligner?.remove(self.settings.source)
        if self.buffer.isPaced {
            self.buffer.finish()
        } else {
            self.buffer.setStatus(.lost, at: self.clock.now() ?? 0)
        }
        self.stage.report(.ended)
    }
}
