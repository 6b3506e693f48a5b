import LibAV
import MediaKernels
import MediaTypes

/// The decoders and the timeline of a source, alive only on its thread.
struct DecodeWorker {
    let stage: DecodeStage
    let settings: DecodeStage.Settings
    let clock: ProgramClock
    var timeline: SourceTimeline
    /// Live packets that are not due yet.
    var schedule = PacketSchedule()
    /// What says when they are due, and since when it says so.
    var placing = Placing()
    var video: VideoTrack
    var videoCodec: CodecName?
    /// What is kept from the decoder while nobody sees the source.
    var withheld = WithheldPackets()
    /// Something was thrown away that the next packets refer to: nothing is decoded before a key picture.
    var hasGap = false { didSet { self.gapLength = 0 } }
    /// Pictures that were left out since.
    var gapLength = 0
    var keys = KeyRhythm()
    /// What was last told of the coded pictures, and how the operator had turned the source then.
    var told: (parameters: CodecParameters, rotation: Int)?
    /// Publications that are over.
    var ended = 0
    /// Numbers of the pictures inside the decoder that nobody will see.
    private var past: Set<Int64> = []
    private var sounds: [UInt8: SoundTrack] = [:]
    /// The audio track whose timestamps steer the timeline, and program time at which it last came.
    private var leading: (track: UInt8, arrival: Int64)?
    /// Times of the pictures inside the decoder, by the number that stands for each packet's pts in there: a publisher's
    /// own need not differ.
    private var arrivals: [Int64: (time: Int64, arrival: Int64?)] = [:]
    private var nextNumber: Int64 = 0
    private var gate: PictureGate
    private(set) var format: PictureFormat?
    private var hasSound = false
    private var pictureSeams = 0
    /// Raised while libavcodec has data of the source in its hands.
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
            offset: stage.wantedOffset, maxDriftPpm: settings.maxDriftPpm, soundLead: settings.soundLead)
        self.gate = PictureGate(fps: settings.maxFps)
        // A file's reader has already moved its first timestamp to zero.
        if stage.buffer.isPaced { self.timeline.anchor(timestamp: 0, at: 0) }
    }

    /// Takes one item of a file that paces the program.
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

    /// Presentation and decoding time in nanoseconds.
    static func times(of packet: CodedPacket) -> (pts: Int64, dts: Int64) {
        let scale = Int64(packet.timescale)
        return (
            TimeMath.rescale(packet.pts, from: scale, to: TimeMath.nanoseconds),
            TimeMath.rescale(packet.dts, from: scale, to: TimeMath.nanoseconds)
        )
    }

    mutating func configure(_ parameters: CodecParameters) {
        if let codecs = self.settings.codecs, !codecs.contains(parameters.codec) {
            // Ingest has refused it already; no decoder is opened for what the pipeline does not list.
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
                var track = self.sounds.removeValue(forKey: parameters.track) ?? self.makeSoundTrack()
                defer { self.sounds[parameters.track] = track }
                try track.configure(parameters, now: self.openingTime)
            } catch {
                self.stage.report(.undecodable(error))
            }
        }
    }

    /// What decoders are opened by; `nil`: as often as the operator's own file says.
    private var openingTime: Int64? {
        self.buffer.isPaced || self.settings.isFile ? nil : self.clock.now()
    }

    private func makeSoundTrack() -> SoundTrack {
        SoundTrack(sampleRate: self.settings.sampleRate, limitPPB: self.timeline.glideLimit, place: self.place)
    }

    /// Whether a packet of this audio track steers the timeline. One track does, so that jumps and drift are seen once;
    /// another one takes over when that has been silent for a second.
    mutating func leads(_ track: UInt8, at arrival: Int64) -> Bool {
        if let leading, leading.track != track, arrival &- leading.arrival < TimeMath.nanoseconds { return false }
        self.leading = (track, arrival)
        return true
    }

    /// Shows what a step of the video track gave, and reports what it could not.
    private mutating func take(_ outcome: VideoTrack.Outcome) {
        if outcome.isSkipped { self.stage.count { $0.dropped += 1 } }
        if outcome.isDamaged { self.stage.count { $0.damaged += 1 } }
        if outcome.isReopened { self.stage.count { $0.reopened += 1 } }
        for picture in outcome.pictures { self.show(picture) }
        if let failure = outcome.failure { self.stage.report(.undecodable(failure)) }
    }

    /// - Parameter pts: On the program.
    mutating func decode(_ packet: CodedPacket, pts: Int64, arrival: Int64?) {
        let mark = self.marks[packet.kind]
        mark?.raise()
        defer { mark?.lower() }
        switch packet.kind {
        case .video: self.decodeVideo(packet, pts, arrival)
        case .audio: self.decodeAudio(packet, pts)
        }
    }

    /// - Parameter isPast: Nobody will see the picture: it is decoded for the sake of later ones.
    mutating func decodeNow(_ packet: CodedPacket, _ pts: Int64, _ arrival: Int64?, isPast: Bool = false) {
        var numbered = packet
        numbered.pts = self.nextNumber
        numbered.dts = self.nextNumber
        self.nextNumber += 1
        self.arrivals[numbered.pts] = (pts, arrival)
        if isPast { self.past.insert(numbered.pts) }
        // Pictures that were withheld come here by another way than ``decode(_:pts:arrival:)``.
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
        // A decoder that swallowed pictures leaves their times behind; what is older than any reorder depth is garbage.
        let oldest = self.nextNumber - 64
        if self.arrivals.count > 64 { self.arrivals = self.arrivals.filter { $0.key >= oldest } }
        if self.past.count > 64 { self.past = self.past.filter { $0 >= oldest } }
    }

    private mutating func show(_ picture: Picture) {
        guard let number = picture.pts, let (time, arrival) = self.arrivals.removeValue(forKey: number) else { return }
        if self.format != picture.format {
            self.stage.report(self.format == nil ? .firstPicture(picture.format) : .formatChanged(picture.format))
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
        // Taken out while it works, so that nothing is copied.
        guard var track = self.sounds.removeValue(forKey: packet.track) else { return }
        defer { self.sounds[packet.track] = track }
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
        let isIntact =
            self.buffer.isPaced
            ? track.lay(packet, at: position, in: self.buffer)
            : track.place(packet, at: position, seams: self.timeline.seams, in: self.buffer)
        if !isIntact { self.stage.count { $0.damaged += 1 } }
        if case .reopened(let failure) = track.judge(isIntact, now: self.openingTime) {
            self.stage.count { $0.reopened += 1 }
            if let failure { self.stage.report(.undecodable(failure)) }
        }
        if !self.hasSound {
            self.hasSound = true
            self.stage.report(.firstSound)
        }
    }

    mutating func end() {
        self.ended &+= 1
        self.buffer.coded.put(.end)
        let mark = self.marks[.video]
        mark?.raise()
        defer { mark?.lower() }
        self.decodeWithheld()
        self.hasGap = false
        self.keys = KeyRhythm()
        self.take(self.video.finish(rotation: self.stage.rotation))
        self.video.reset()
        self.arrivals.removeAll()
        // Whoever comes next may have other tracks; those that return continue in their places.
        for track in self.sounds.keys { self.sounds[track]?.end() }
        self.leading = nil
        self.format = nil
        self.hasSound = false
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
