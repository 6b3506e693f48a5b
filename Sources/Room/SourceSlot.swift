import LibAV
import MediaTypes
import PipelineSpec
import Program
import RoomSources
import Stages
import Synchronization

/// One source of the room: its buffer, its decode thread, and where its packets come from.
final class SourceSlot: Sendable {
    /// What the room knows of the source.
    private struct Known {
        var facts = Facts()
        var health: SourceHealth
        var arrivals = SourceArrivals()
        var flow = SourceInput.Flow()
        /// The reader of a file that is open and not read yet.
        var reader: FileReader?
        /// The decode thread; nil before it has started and once somebody waits for its end.
        var thread: StageThread?
    }

    private struct Facts {
        var state = SourceLife.State.idle
        var format: PictureFormat?
        var videoCodec: CodecName?
        /// By the numbers of the audio tracks.
        var audioCodecs: [UInt8: CodecName] = [:]
        var isPublishing = false
        var lastError: String?
        var reconnects = 0
    }

    let spec: Pipeline.Source
    let buffer: SourceBuffer
    let decode: DecodeStage
    private let known: Mutex<Known>
    private let voice: Voice

    /// What its decoder has to say is heard as long as the source is one of the room's.
    private final class Voice: Sendable {
        let isSilent = Atomic<Bool>(false)
    }

    init(
        spec: Pipeline.Source, pipeline: Pipeline, clock: ProgramClock, machine: any SleepClock, aligner: WallAligner,
        events: @escaping @Sendable (SourceID, DecodeStage.Event) -> Void
    ) {
        self.spec = spec
        self.known = Mutex(Known(health: SourceHealth(rules: SourceHealth.Rules(spec, pipeline.alarms))))
        let isFile = if case .file = spec.input { true } else { false }
        self.buffer = SourceBuffer(source: spec.id, isPaced: isFile && pipeline.clock == .offline)
        let id = spec.id
        var settings = DecodeStage.Settings(
            source: spec.id, jitterBuffer: Int64(spec.jitterBufferMs) * 1_000_000,
            offset: Int64(spec.offsetMs) * 1_000_000, sampleRate: pipeline.audio.sampleRate,
            threads: spec.decode.threads,
            maxPixels: Int64(pipeline.limits.maxInputWidth) * Int64(pipeline.limits.maxInputHeight),
            maxJitterBuffer: Int64(spec.maxJitterBufferMs) * 1_000_000, maxDriftPpm: Int64(spec.maxDriftPpm),
            // Between 60 pictures a second the nearest to any tick is near enough.
            maxFps: min(pipeline.limits.maxInputFps, max(60, pipeline.canvas.fps)), isFile: isFile,
            rotation: spec.rotation / 90, holdsDamaged: spec.decode.damaged == .hold,
            soundLead: ProgramStage.soundLead(fps: pipeline.canvas.fps, sampleRate: pipeline.audio.sampleRate))
        if spec.wallClock == .use, !isFile { settings.aligner = aligner }
        if !isFile {
            settings.codecs = Room.names(spec.decode.codecs.isEmpty ? pipeline.ingest.codecs : spec.decode.codecs)
        }
        let voice = Voice()
        self.voice = voice
        self.decode = DecodeStage(
            settings: settings, buffer: self.buffer, clock: clock, machine: machine,
            events: { if !voice.isSilent.load(ordering: .relaxed) { events(id, $0) } })
        self.setTrackVolumes()
    }

    // MARK: The thread

    /// Starts its decode thread; once.
    ///
    /// - Parameter wanted: How far the program's sound has come.
    func start(soundWantedUntil wanted: @escaping @Sendable () -> Int64) {
        let decode = self.decode
        self.known.withLock { known in
            guard known.thread == nil else { return }
            known.thread = StageThread("dec-\(self.spec.id)") { decode.run(soundWantedUntil: wanted) }
        }
    }

    /// Keeps the reader of its file, which has been looked into, until it is to be read.
    func keep(_ reader: FileReader) { self.known.withLock { $0.reader = reader } }

    /// That reader; `nil` where there is none, or it was taken.
    func takeReader() -> FileReader? { self.known.withLock { $0.reader.take() } }

    /// Nothing of what it says from now on is about a source of the room.
    func silence() { self.voice.isSilent.store(true, ordering: .relaxed) }

    /// Waits for its thread, which has been told to stop.
    func join() {
        let thread = self.known.withLock { $0.thread.take() }
        thread?.join()
    }

    /// What its publisher sends a track in.
    func setCodec(_ parameters: CodecParameters) {
        self.known.withLock {
            if parameters.kind == .video {
                $0.facts.videoCodec = parameters.codec
            } else {
                $0.facts.audioCodecs[parameters.track] = parameters.codec
            }
        }
    }

    /// Volumes of the audio tracks as the pipeline says.
    private func setTrackVolumes() {
        for track in self.spec.audioTracks {
            self.buffer.setGain(Float(track.volume) / 100, ofTrack: UInt8(clamping: track.track), over: 1)
        }
    }

    /// Numbers of the tracks that have come, that the pipeline names, and of the main one; in order.
    var audioTracks: [Int] {
        let (come, named) = (self.buffer.audioTracks.map { Int($0.track) }, self.spec.audioTracks.map(\.track))
        return Set(come + named + [0]).sorted()
    }

    private func audioTracksJSON(_ codecs: [UInt8: CodecName]) -> JSONValue {
        .array(
            self.buffer.audioTracks.map { track, gain in
                [
                    "track": JSONValue(Int(track)), "codec": JSONValue(codecs[track]?.rawValue),
                    "volume": JSONValue(Int((gain * 100).rounded())),
                ]
            })
    }

    var isFile: Bool { if case .file = self.spec.input { true } else { false } }

    func setFormat(_ format: PictureFormat) { self.known.withLock { $0.facts.format = format } }
    func setError(_ error: String) { self.known.withLock { $0.facts.lastError = error } }
    func setPublishing(_ publishing: Bool) {
        self.known.withLock { known in
            known.arrivals = SourceArrivals()
            if publishing { known.health.begin() }
            if publishing, !known.facts.isPublishing, known.facts.format != nil { known.facts.reconnects += 1 }
            known.facts.isPublishing = publishing
        }
    }

    /// The size and rate of its picture, as last decoded.
    var format: PictureFormat? { self.known.withLock(\.facts.format) }
    var isPublishing: Bool { self.known.withLock(\.facts.isPublishing) }
    var state: SourceLife.State { self.known.withLock(\.facts.state) }
    /// When media of the publication came.
    var arrivals: SourceLife.Arrivals { self.known.withLock(\.arrivals.current) }
    /// When the first key frame of the publication came; `nil` before.
    var firstKey: Int64? { self.known.withLock(\.arrivals.firstKey) }
    /// When its media came, and how long after that it is shown.
    var timedArrivals: SourceLife.Arrivals {
        var arrivals = self.arrivals
        arrivals.shownAfter = (self.decode.timing.buffered ?? 0) &+ max(0, self.decode.wantedOffset)
        return arrivals
    }

    /// Takes note of what has come since the last time.
    func readHealth(_ surroundings: SourceHealth.Surroundings, now: Int64) -> SourceHealth.Change? {
        self.known.withLock { known in
            let reading = known.arrivals.takeReading(now: now)
            return known.health.read(reading, surroundings, now: now)
        }
    }

    func setHealthRules(_ rules: SourceHealth.Rules) { self.known.withLock { $0.health.rules = rules } }

    /// What is wrong with what comes in, the worst first.
    var healthFindings: [SourceHealth.Finding] { self.known.withLock(\.health.findings) }

    /// What came in within the window.
    var healthFigures: JSONValue {
        let figures = self.known.withLock(\.health.figures)
        return [
            "fps": .thousandths(figures.fps), "videoBitrate": .integer(figures.bitrate),
            "gapMs": .integer(figures.gap / 1_000_000), "skewMs": .integer(figures.skew / 1_000_000),
            "keyIntervalMs": .integer(figures.keyGap / 1_000_000), "damaged": JSONValue(figures.damaged),
            "sentFps": figures.sentFps.map { .thousandths($0) } ?? .null,
            "realtime": figures.pace.map { .thousandths($0) } ?? .null,
        ]
    }

    func setState(_ state: SourceLife.State) { self.known.withLock { $0.facts.state = state } }

    // MARK: Packets on their way in

    /// Changes what ``SourceInput`` keeps. `body` must be short, and must not use the slot but for its decoder.
    func changeFlow<Result: Sendable>(_ body: (inout SourceInput.Flow) -> Result) -> Result {
        self.known.withLock { body(&$0.flow) }
    }

    /// Notes packets that have come.
    ///
    /// - Parameters:
    ///   - items: With the times at which they came.
    ///   - paced: The same with the times at which they would have come in real time.
    /// - Returns: When the first decodable packet came, if it is one of these.
    func received(_ items: [SourceItem], paced: [SourceItem]) -> Int64? {
        self.known.withLock { known in
            known.arrivals.note(paced)
            return known.flow.starting.note(items)
        }
    }

    /// See ``SourceArrivals/noteRead(until:)``.
    func noteRead(until time: Int64?) { self.known.withLock { $0.arrivals.noteRead(until: time) } }

    func json(
        stats: ProgramStage.Stats, contribution: ProgramStage.Contribution, relays: JSONValue, level: JSONValue,
        refused: JSONValue
    ) -> JSONValue {
        let facts = self.known.withLock(\.facts)
        let decoded = self.decode.stats
        let timing = self.decode.timing
        return [
            "uid": .string(self.spec.id.uid), "streamType": .string(self.spec.id.streamType.rawValue),
            "name": JSONValue(self.spec.name), "state": .string(facts.state.rawValue),
            "picture": JSONValue(facts.format?.description), "videoCodec": JSONValue(facts.videoCodec?.rawValue),
            "audioTracks": self.audioTracksJSON(facts.audioCodecs), "videoPackets": JSONValue(decoded.videoPackets),
            "audioPackets": JSONValue(decoded.audioPackets), "damaged": JSONValue(decoded.damaged),
            "reopened": JSONValue(decoded.reopened),
            "dropped": JSONValue(decoded.dropped + self.buffer.droppedPictures),
            "shown": JSONValue(stats.shown[self.spec.id] ?? 0),
            "repeated": JSONValue(stats.repeated[self.spec.id] ?? 0),
            "reconnects": JSONValue(facts.reconnects), "lastError": JSONValue(facts.lastError),
            "volume": .integer(Int64((contribution.volume * 100).rounded())),
            "audioPush": .bool(contribution.isHeard), "videoPush": .bool(contribution.isSeen),
            "relays": relays, "level": level, "refused": refused,
            "health": self.healthJSON, "figures": self.healthFigures,
            "driftPpm": timing.driftPpm.map { JSONValue($0) } ?? .null,
            "bufferMs": timing.buffered.map { .integer($0 / 1_000_000) } ?? .null,
            "clock": .string(timing.isWallAligned ? "wall" : "arrival"),
            "wallMs": .integer(timing.wallExtra / 1_000_000),
            "reanchors": JSONValue(timing.reanchors), "thinned": JSONValue(decoded.thinned),
            "undecoded": JSONValue(decoded.undecoded),
        ]
    }
}
