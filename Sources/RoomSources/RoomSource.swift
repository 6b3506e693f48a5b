package import LibAV
package import MediaTypes
package import PipelineSpec
package import Program
package import Threading
import Synchronization

/// One source of a room: its buffer, its decode thread, and what is known of what comes in. Any thread may use it.
package final class RoomSource: Sendable {
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

    /// What the API shows of the source.
    struct Facts {
        var state = SourceLife.State.idle
        var format: PictureFormat?
        var videoCodec: CodecName?
        /// By the numbers of the audio tracks.
        var audioCodecs: [UInt8: CodecName] = [:]
        var isPublishing = false
        var lastError: String?
        var reconnects = 0
    }

    /// The source in the pipeline that the room was made from, or that added it.
    package let spec: Pipeline.Source
    /// Decoded frames and audio, read by the program.
    package let buffer: SourceBuffer
    package let decode: DecodeStage
    private let known: Mutex<Known>
    private let voice: Voice

    /// Whether reports of the decoder are dropped, because the source was removed.
    private final class Voice: Sendable {
        let isSilent = Atomic<Bool>(false)
    }

    /// - Parameters:
    ///   - aligner: Shared by all sources of the room; used by those that are aligned by wall-clock time.
    ///   - events: Called on the decode thread, until ``silence()``.
    package init(
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
            settings.codecs = pipeline.codecs(of: spec)
        }
        let voice = Voice()
        self.voice = voice
        self.decode = DecodeStage(
            settings: settings, buffer: self.buffer, clock: clock, machine: machine,
            events: { if !voice.isSilent.load(ordering: .relaxed) { events(id, $0) } })
        self.setTrackVolumes()
    }

    // MARK: The thread

    /// Starts the decode thread; does nothing if it was started.
    ///
    /// - Parameter wanted: The position up to which the program needs audio, in samples.
    package func start(soundWantedUntil wanted: @escaping @Sendable () -> Int64) {
        let decode = self.decode
        self.known.withLock { known in
            guard known.thread == nil else { return }
            known.thread = StageThread("dec-\(self.spec.id)") { decode.run(soundWantedUntil: wanted) }
        }
    }

    /// Opens the file of a source that reads one, tells the buffer which tracks it has, and keeps the reader for ``takeReader()``.
    ///
    /// - Throws: ``MediaError`` if the file cannot be read.
    func probeFile() throws(MediaError) {
        guard case .file(let path, let loops) = self.spec.input else { return }
        var reader = FileReader(path: path, loops: loops, place: "source[\(self.spec.id)]")
        let parameters = try reader.probe()
        self.known.withLock { $0.reader = reader }
        self.buffer.setTracks(
            video: parameters.contains { $0.kind == .video }, audio: parameters.contains { $0.kind == .audio })
    }

    /// The kept reader; nil if there is none, or it was taken.
    func takeReader() -> FileReader? { self.known.withLock { $0.reader.take() } }

    /// Drops what the decoder reports from now on.
    func silence() { self.voice.isSilent.store(true, ordering: .relaxed) }

    /// Waits for the decode thread, which the caller has told to stop.
    func join() {
        let thread = self.known.withLock { $0.thread.take() }
        thread?.join()
    }

    /// Notes the codec of a track.
    func setCodec(_ parameters: CodecParameters) {
        self.known.withLock {
            if parameters.kind == .video {
                $0.facts.videoCodec = parameters.codec
            } else {
                $0.facts.audioCodecs[parameters.track] = parameters.codec
            }
        }
    }

    /// Sets the volumes of the audio tracks to those of the pipeline.
    private func setTrackVolumes() {
        for track in self.spec.audioTracks {
            self.buffer.setGain(Float(track.volume) / 100, ofTrack: UInt8(clamping: track.track), over: 1)
        }
    }

    /// Numbers of the audio tracks that were received, that the pipeline names, and of the main one; in order.
    package var audioTracks: [Int] {
        let (come, named) = (self.buffer.audioTracks.map { Int($0.track) }, self.spec.audioTracks.map(\.track))
        return Set(come + named + [0]).sorted()
    }

    /// Whether a file is read, so that there is no publisher.
    package var isFile: Bool { if case .file = self.spec.input { true } else { false } }

    /// Notes the size and rate of the frames that are decoded from now on.
    func setFormat(_ format: PictureFormat) { self.known.withLock { $0.facts.format = format } }
    /// Notes the last error, as the API shows it.
    package func setError(_ error: String) { self.known.withLock { $0.facts.lastError = error } }
    /// A publication has begun or ended.
    func setPublishing(_ publishing: Bool) {
        self.known.withLock { known in
            known.arrivals = SourceArrivals()
            if publishing { known.health.begin() }
            if publishing, !known.facts.isPublishing, known.facts.format != nil { known.facts.reconnects += 1 }
            known.facts.isPublishing = publishing
        }
    }

    var facts: Facts { self.known.withLock(\.facts) }
    /// What was measured in the window of the health rules.
    var figures: SourceHealth.Figures { self.known.withLock(\.health.figures) }
    /// The size and rate of the frame that was decoded last; nil before the first.
    package var format: PictureFormat? { self.known.withLock(\.facts.format) }
    /// Whether a publisher is connected.
    package var isPublishing: Bool { self.known.withLock(\.facts.isPublishing) }
    /// The state that was set last; see ``setState(_:)``.
    package var state: SourceLife.State { self.known.withLock(\.facts.state) }
    /// When the first key frame of the publication came; nil before.
    var firstKey: Int64? { self.known.withLock(\.arrivals.firstKey) }
    /// When media of the current publication came last.
    package var arrivals: SourceLife.Arrivals { self.known.withLock(\.arrivals.current) }
    /// The same with the time from arrival to air.
    package var timedArrivals: SourceLife.Arrivals {
        var arrivals = self.arrivals
        arrivals.shownAfter = (self.decode.timing.buffered ?? 0) &+ max(0, self.decode.wantedOffset)
        return arrivals
    }

    /// Judges what has come since the last call.
    ///
    /// - Parameter now: Nanoseconds of the monotonic clock.
    /// - Returns: nil if the level and causes are as before.
    func readHealth(_ surroundings: SourceHealth.Surroundings, now: Int64) -> SourceHealth.Change? {
        self.known.withLock { known in
            let reading = known.arrivals.takeReading(now: now)
            return known.health.read(reading, surroundings, now: now)
        }
    }

    /// Judges by other rules from now on.
    package func setHealthRules(_ rules: SourceHealth.Rules) { self.known.withLock { $0.health.rules = rules } }

    /// What is wrong with what comes in, the worst first.
    package var healthFindings: [SourceHealth.Finding] { self.known.withLock(\.health.findings) }

    /// Notes the state of the source's ``SourceLife``.
    package func setState(_ state: SourceLife.State) { self.known.withLock { $0.facts.state = state } }

    /// The source as the program takes it.
    ///
    /// - Throws: ``MediaError`` for a placeholder image that cannot be read.
    package func programSource() throws(MediaError) -> ProgramStage.Source {
        let placeholder = try self.spec.onLost.placeholderImage.map { path throws(MediaError) in
            try Picture.load(path: path, place: "source[\(self.spec.id)]")
        }
        return ProgramStage.Source(
            buffer: self.buffer, name: self.spec.name ?? self.spec.id.description,
            volume: Float(self.spec.volume) / 100, hold: Int64(self.spec.onLost.resolvedHoldMs) * 1_000_000,
            stalledHold: self.spec.stalledHoldMs.map { Int64($0) * 1_000_000 }, placeholder: placeholder)
    }

    // MARK: Packets on their way in

    /// Changes what ``SourceInput`` keeps. `body` must be short, and must use nothing of the source but its decoder.
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
}
