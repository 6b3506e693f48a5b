package import LibAV
package import MediaTypes
package import PipelineSpec
package import Program
package import RoomAPI
package import Threading
import Synchronization

/// One source of a room: its buffer, its decode thread, and the state of its publisher. Any thread may use it.
package final class RoomSource: Sendable {
    /// The state that the lock protects.
    private struct LockedState {
        var facts = Facts()
        var health: SourceHealth
        var arrivals = SourceArrivals()
        var tap = KeyFrameTap()
        var flow = SourceInput.Flow()
        /// The reader of a file source, from ``probeFile()`` to ``takeReader()``.
        var reader: FileReader?
        /// The decode thread; nil before ``start(audioWantedUntil:)`` and after ``join()``.
        var thread: StageThread?
        /// The thread that reads the file of a file source; nil before ``startReading(_:)`` and after ``join()``.
        var readThread: StageThread?
    }

    /// The state of the source that the API shows.
    struct Facts {
        var state = SourceStateMachine.State.idle
        var format: PictureFormat?
        var videoCodec: CodecName?
        /// Codec of each audio track, by track number.
        var audioCodecs: [UInt8: CodecName] = [:]
        var isPublishing = false
        var lastError: String?
        var reconnects = 0
    }

    /// The source as in the document with which the room was opened, or that added the source.
    package let spec: Pipeline.Source
    /// Decoded frames and audio, which the program reads.
    package let buffer: SourceBuffer
    package let decode: DecodeStage
    /// Most pixels of a frame that is decoded.
    package let maxPixels: Int64
    /// Codecs that may be decoded; nil for files, of which any may.
    private let codecs: Set<CodecName>?
    private let locked: Mutex<LockedState>
    private let voice: Voice
    /// Whether the source's video is not decoded, because the room has only audio.
    private let isAudioOnly: Bool
    private let isOffline: Bool

    /// Holds whether events of the decoder are dropped, because the source was removed.
    private final class Voice: Sendable {
        let isSilent = Atomic<Bool>(false)
    }

    /// - Parameters:
    ///   - aligner: Shared by all sources of the room. Sources with wall clock timestamps are aligned by it.
    ///   - limiter: See ``DecodeStage/Settings/limiter``.
    ///   - events: Called on the decode thread, until ``silence()``.
    package init(
        spec: Pipeline.Source, pipeline: Pipeline, clock: ProgramClock, machine: any SleepClock, aligner: WallAligner,
        limiter: WorkLimiter? = nil, events: @escaping @Sendable (SourceID, DecodeStage.Event) -> Void
    ) {
        self.spec = spec
        self.isAudioOnly = pipeline.isAudioOnly
        self.isOffline = pipeline.clock == .offline
        self.locked = Mutex(LockedState(health: SourceHealth(rules: SourceHealth.Rules(spec, pipeline.alarms))))
        let isFile = if case .file = spec.input { true } else { false }
        self.buffer = SourceBuffer(source: spec.id, isPaced: isFile && self.isOffline)
        self.maxPixels = Int64(pipeline.limits.maxInputWidth) * Int64(pipeline.limits.maxInputHeight)
        self.codecs = isFile ? nil : pipeline.codecs(of: spec)
        let id = spec.id
        var settings = DecodeStage.Settings(
            source: spec.id, jitterBuffer: Int64(spec.jitterBufferMs) * 1_000_000,
            offset: Int64(spec.offsetMs) * 1_000_000, sampleRate: pipeline.audio.sampleRate,
            threads: spec.decode.threads,
            maxPixels: self.maxPixels,
            maxJitterBuffer: Int64(spec.maxJitterBufferMs) * 1_000_000, maxDriftPpm: Int64(spec.maxDriftPpm),
            // With 60 frames per second, there is always a frame close enough to a tick.
            maxFps: min(pipeline.limits.maxInputFps, max(60, pipeline.canvas.fps)), isFile: isFile,
            rotation: spec.rotation / 90, holdsDamaged: spec.decode.damaged == .hold,
            audioLead: ProgramStage.audioLead(fps: pipeline.canvas.fps, sampleRate: pipeline.audio.sampleRate))
        settings.isAudioOnly = pipeline.isAudioOnly
        settings.processing = AudioProcessing(spec.audio)
        if spec.wallClock == .use, !isFile { settings.aligner = aligner }
        settings.codecs = self.codecs
        settings.limiter = limiter
        settings.delay = Int64(pipeline.program.delayMs) * 1_000_000
        let voice = Voice()
        self.voice = voice
        self.decode = DecodeStage(
            settings: settings, buffer: self.buffer, clock: clock, machine: machine,
            events: { if !voice.isSilent.load(ordering: .relaxed) { events(id, $0) } })
        for track in spec.audioTracks { self.setVolume(track.volume, ofTrack: track.track) }
    }

    // MARK: Decode thread

    /// Starts the decode thread. Does nothing if it was started before.
    ///
    /// - Parameter wanted: Returns the position up to which the program needs audio, in samples.
    package func start(audioWantedUntil wanted: @escaping @Sendable () -> Int64) {
        let decode = self.decode
        self.locked.withLock { locked in
            guard locked.thread == nil else { return }
            locked.thread = StageThread("dec-\(self.spec.id)") { decode.run(audioWantedUntil: wanted) }
        }
    }

    /// Opens the file of a file source, tells the buffer which tracks it has, and keeps the reader for
    /// ``takeReader()``. Does nothing for other sources.
    ///
    /// - Throws: ``MediaError`` if the file cannot be read.
    func probeFile() throws(MediaError) {
        guard case .file(let path, let loops) = self.spec.input else { return }
        var reader = self.reader(path, loops)
        let parameters = try reader.probe()
        self.locked.withLock { $0.reader = reader }
        self.buffer.setTracks(
            video: !self.isAudioOnly && parameters.contains { $0.kind == .video },
            audio: parameters.contains { $0.kind == .audio })
    }

    /// Makes the reader of a file. Only an offline job may read a pipe, because it waits for its files; the job ends if
    /// none of them makes progress.
    private func reader(_ path: String, _ loops: Bool) -> FileReader {
        FileReader(path: path, loops: loops, place: "source[\(self.spec.id)]", allowsPipe: self.isOffline)
    }

    /// The reader opened by ``probeFile()``; nil if there is none, or if it was already taken.
    func takeReader() -> FileReader? { self.locked.withLock { $0.reader.take() } }

    /// Starts the thread that reads the file of a file source. Does nothing for other sources, and if it was started
    /// before.
    ///
    /// - Parameter body: Reads the file into the source; called on the thread.
    func startReading(_ body: @escaping @Sendable (FileReader) -> Void) {
        guard case .file(let path, let loops) = self.spec.input else { return }
        let reader = self.takeReader() ?? self.reader(path, loops)
        self.locked.withLock { locked in
            guard locked.readThread == nil else { return }
            locked.readThread = StageThread("file-\(self.spec.id)") { body(reader) }
        }
    }

    /// Drops all further events of the decoder.
    func silence() { self.voice.isSilent.store(true, ordering: .relaxed) }

    /// Waits for the decode thread, and the thread that reads the file, to end. The caller must have stopped the decoder
    /// before, which also ends the reading.
    func join() {
        let threads = self.locked.withLock { [$0.readThread.take(), $0.thread.take()] }
        for thread in threads { thread?.join() }
    }

    /// Records the codec of a track, for the API.
    func setCodec(_ parameters: CodecParameters) {
        self.locked.withLock {
            if parameters.kind == .video {
                $0.facts.videoCodec = parameters.codec
            } else {
                $0.facts.audioCodecs[parameters.track] = parameters.codec
            }
        }
    }

    /// Sets the volume of an audio track, in percent of the published volume.
    ///
    /// - Parameter ramp: Number of samples over which the volume changes.
    package func setVolume(_ percent: Int, ofTrack track: Int, over ramp: Int64 = 1) {
        self.buffer.setGain(Float(percent) / 100, ofTrack: UInt8(clamping: track), over: max(1, ramp))
    }

    /// Sets the time offset and the rotation of the source. A value that is nil is not changed.
    ///
    /// - Parameters:
    ///   - offset: Milliseconds by which the media is shown later; negative for earlier.
    ///   - rotation: Clockwise rotation of the video in degrees: 0, 90, 180 or 270.
    package func set(offset: Int?, rotation: Int?) {
        if let offset { self.decode.setOffset(milliseconds: offset) }
        if let rotation { self.decode.setRotation(rotation / 90) }
    }

    /// Sets what is done with the audio of the source before it is mixed.
    package func set(audio: Pipeline.SourceAudio) { self.decode.setProcessing(AudioProcessing(audio)) }

    /// Sets the delay of the program; see ``DecodeStage/setDelay(milliseconds:)``.
    package func set(delay milliseconds: Int) { self.decode.setDelay(milliseconds: milliseconds) }

    /// Numbers of the audio tracks, sorted: those received, those that the pipeline names, and 0, the main track.
    package var audioTracks: [Int] {
        let (come, named) = (self.buffer.audioTracks.map { Int($0.track) }, self.spec.audioTracks.map(\.track))
        return Set(come + named + [0]).sorted()
    }

    /// Whether the source is a file, which has no publisher.
    package var isFile: Bool { if case .file = self.spec.input { true } else { false } }

    /// Records the format (size, pixel format and color) of the frames decoded from now on.
    func setFormat(_ format: PictureFormat) { self.locked.withLock { $0.facts.format = format } }
    /// Records the last error of the source, for the API.
    package func setError(_ error: String) { self.locked.withLock { $0.facts.lastError = error } }
    /// Records that a publication has begun or ended. The measurements of arrivals start anew; at the beginning of a
    /// publication, so do those of the health.
    func setPublishing(_ publishing: Bool) {
        self.locked.withLock { locked in
            locked.arrivals = SourceArrivals()
            if publishing { locked.health.begin() }
            if publishing, !locked.facts.isPublishing, locked.facts.format != nil { locked.facts.reconnects += 1 }
            locked.facts.isPublishing = publishing
        }
    }

    var facts: Facts { self.locked.withLock(\.facts) }
    /// The measurements in the current window of the health rules.
    var figures: SourceHealth.Figures { self.locked.withLock(\.health.figures) }
    /// The format (size, pixel format and color) of the last decoded frame; nil before the first frame.
    package var format: PictureFormat? { self.locked.withLock(\.facts.format) }
    /// Whether a publisher is connected; of a file, whether it was started.
    package var isPublishing: Bool { self.locked.withLock(\.facts.isPublishing) }
    /// The state of the source; see ``setState(_:)``.
    package var state: SourceStateMachine.State { self.locked.withLock(\.facts.state) }
    /// When the first key frame of the current publication arrived, in nanoseconds of the monotonic clock; nil before
    /// that.
    var firstKey: Int64? { self.locked.withLock(\.arrivals.firstKey) }
    /// When media of the current publication last arrived; see ``SourceArrivals``.
    package var arrivals: SourceStateMachine.Arrivals { self.locked.withLock(\.arrivals.current) }
    /// When media last arrived, together with the time from its arrival until it is shown.
    package var timedArrivals: SourceStateMachine.Arrivals {
        var arrivals = self.arrivals
        arrivals.shownAfter = (self.decode.timing.buffered ?? 0) &+ max(0, self.decode.wantedOffset)
        return arrivals
    }

    /// Updates the health of the source with what has arrived since the last call.
    ///
    /// - Parameter now: Nanoseconds of the monotonic clock.
    /// - Returns: The change of the health level; nil if it is unchanged.
    func readHealth(_ conditions: SourceHealth.Conditions, now: Int64) -> SourceHealth.Change? {
        self.locked.withLock { locked in
            let reading = locked.arrivals.takeReading(now: now)
            return locked.health.read(reading, conditions, now: now)
        }
    }

    /// Sets the rules of the health check.
    package func setHealthRules(_ rules: SourceHealth.Rules) { self.locked.withLock { $0.health.rules = rules } }

    /// The problems that the health check has found, the worst first.
    package var healthFindings: [SourceHealth.Finding] { self.locked.withLock(\.health.findings) }

    /// Sets the state of the source, as its ``SourceStateMachine`` has determined it.
    package func setState(_ state: SourceStateMachine.State) { self.locked.withLock { $0.facts.state = state } }

    /// The source for the program, with its volume and placeholder.
    ///
    /// - Throws: ``MediaError`` if the placeholder image cannot be read.
    package func programSource() throws(MediaError) -> ProgramStage.Source {
        let placeholder = try self.spec.onLost.placeholderImage.map { path throws(MediaError) in
            try Picture.load(path: path, place: "source[\(self.spec.id)]")
        }
        var source = ProgramStage.Source(
            buffer: self.buffer, name: self.spec.name ?? self.spec.id.description,
            volume: Float(self.spec.volume) / 100, hold: Int64(self.spec.onLost.resolvedHoldMs) * 1_000_000,
            stalledHold: self.spec.stalledHoldMs.map { Int64($0) * 1_000_000 }, placeholder: placeholder)
        (source.isBackground, source.fadeMs) = (self.spec.background, self.spec.fadeMs)
        return source
    }

    // MARK: Arriving packets

    /// Changes the state of ``SourceInput`` under the lock. `body` must be short, and may use only the decoder of the
    /// source.
    func changeFlow<Result: Sendable>(_ body: (inout SourceInput.Flow) -> Result) -> Result {
        self.locked.withLock { body(&$0.flow) }
    }

    /// Records packets that have arrived.
    ///
    /// - Parameters:
    ///   - items: The packets with their arrival times.
    ///   - paced: The same packets with the times at which they would have arrived in real time.
    /// - Returns: When the first of these packets arrived that can start the program; nil if none can.
    func received(_ items: [SourceItem], paced: [SourceItem]) -> Int64? {
        self.locked.withLock { locked in
            locked.arrivals.note(paced)
            locked.tap.note(paced)
            return locked.flow.starting.note(items)
        }
    }

    /// What the tap holds of the current publication; without a key frame of a codec that may not be decoded. Empty for a
    /// file.
    package var tapped: (keyFrame: KeyFrameTap.KeyFrame?, hasVideo: Bool, began: Int64?) {
        let tap = self.locked.withLock(\.tap)
        guard let keyFrame = tap.keyFrame, self.codecs?.contains(keyFrame.parameters.codec) != false else {
            return (nil, tap.hasVideo, tap.began)
        }
        return (keyFrame, tap.hasVideo, tap.began)
    }

    /// Records up to which time media was read; see ``SourceArrivals/noteRead(until:)``.
    func noteRead(until time: Int64?) { self.locked.withLock { $0.arrivals.noteRead(until: time) } }

    /// The part of the source's state for replies and metrics that does not come from its decoder and its buffer.
    ///
    /// - Parameter now: Monotonic time in nanoseconds.
    package func status(now: Int64) -> SourceFacts.Status {
        let (facts, arrivals) = self.locked.withLock { ($0.facts, $0.arrivals.current) }
        var status = SourceFacts.Status()
        status.state = facts.state.rawValue
        status.format = facts.format?.description
        status.videoCodec = facts.videoCodec?.rawValue
        status.audioCodecs = facts.audioCodecs.mapValues(\.rawValue)
        (status.reconnects, status.lastError) = (facts.reconnects, facts.lastError)
        (status.health, status.figures) = (HealthReply(self.healthFindings), self.healthFigures)
        status.knownUntil = arrivals.known(at: now)
        return status
    }
}
