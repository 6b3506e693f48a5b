import Encoding
import LibAV
import Logging
import MediaTypes
import Packager
import PipelineSpec
import Program
import Recording
import RoomAPI
import RoomOutputs
import RoomScenes
import RoomSources
import Synchronization
import Threading

/// The interface that the stages use to reach the room.
protocol StagesHost: SourcesHost, OutputsHost {
    /// Stops this worker because of an error after which it cannot continue. The room has not ended: the playlists stay
    /// open, and a worker that is started again continues it.
    func fail(_ error: MediaError)
    /// Handles pending events and what is due, as the life thread of a live room does. Called between two ticks of an
    /// offline program.
    func stepLife()
    /// Sets whether the program is catching up after the process was stopped (SIGSTOP) or got no CPU time.
    func setCatchingUp(_ isCatchingUp: Bool)
    /// Whether no client receives the program's audio, because the machine cannot keep up.
    var isAudioTapPaused: Bool { get }
    /// Announces renditions that libx264 encodes instead of their hardware encoder.
    var encoders: EncoderReports { get }
    /// Records the audio levels of the program and the sources.
    func note(_ levels: AudioLevels)
    /// Records that a source has begun or stopped speaking.
    func note(_ change: SpeakingChange)
}

/// A reference that is set after its users are made, for stages that refer to each other; nil until then.
final class LateBound<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    func set(_ value: Value) { self.value.withLock { $0 = value } }
    func get() -> Value? { self.value.withLock { $0 } }
}

/// The stages of a room, made and connected, before any of them runs.
struct RoomParts {
    typealias LateRoom = LateBound<any StagesHost>

    /// The settings, with the room's document: that of the pipeline file with the restored edits.
    let settings: RoomSettings
    let roster: SourceRoster
    let program: ProgramStage
    let latencies: RoomLatencies
    /// Carries closed captions of the sources; nil if the pipeline does not ask for it.
    let captions: CaptionSwitch?
    /// Sends the program's audio to clients of the API.
    let tap: AudioTap
    let outputs: OutputStages
    let start: RoomStart
    let saved: CommandRecorder
    let resumption: Resumption
    let logger: Logger

    /// Opens the room's encoders, files and directories, and claims the room for this worker.
    ///
    /// - Parameters:
    ///   - written: The settings from the command line and the pipeline file.
    ///   - found: The state of the previous worker as it was read before the claim.
    ///   - joint: Refers to the room once it is made.
    /// - Returns: nil if the previous worker changed its document before this worker claimed the room. The parts must
    ///   then be opened again from the new document.
    static func open(
        _ written: RoomSettings, _ found: Resumption, _ events: RoomEvents, _ logger: Logger, _ joint: LateRoom
    ) throws(MediaError) -> RoomParts? {
        var settings = found.settings
        let pipeline = settings.pipeline
        let host: LateHost = { joint.get() }
        let machine = settings.clocks.machine
        let clock = ProgramClock(machine: machine)
        let limiter = pipeline.offline.threads.map { WorkLimiter(limit: $0) }
        let roster = try SourceRoster.open(pipeline, clock: clock, machine: machine, limiter: limiter) {
            joint.get()?.decoding.handle($1, of: $0)
        }
        let packager = LateBound<HLSPackager>()
        let watched = LateBound<WatchedRenditions>()
        let renditions = pipeline.encodedRenditions
        let steps = renditions.map { Int64($0.frameStep) }
        let latencies = RoomLatencies(tracks: renditions.count)
        let live = LiveFeeds(pipeline, settings.egress, clock: machine)
        let webRTC = try WebRTCFeeds.open(pipeline) { error in
            joint.get()?.lost(of: pipeline.webRTCOutput?.outputID ?? "webrtc", because: error)
        }
        var ladderOutput = EncodingStage.Output(
            packet: { track, packet in
                if steps.indices.contains(track) {
                    let tick = packet.pts / VideoEncoder.ticksPerPicture &* steps[track]
                    let now = machine.now()
                    latencies.update { $0.encoding.coded(track: track, tick: tick, at: now) }
                }
                live?.receive(track: track, packet)
                webRTC?.receive(track: track, packet)
                packager.get()?.receive(track: track, packet)
            },
            configuration: { track, change in
                live?.configure(track: track, change)
                webRTC?.configure(track: track, change)
                if let isPassed = change.isPassed {
                    latencies.update { $0.encoding.setPassing(isPassed, track: track) }
                    packager.get()?.beginStream(track: track, isPlaced: isPassed)
                }
                do throws(MediaError) {
                    try packager.get()?.configure(
                        track: track, change.initialization ?? change.parameters, width: change.width,
                        height: change.height,
                        firstTick: change.tick)
                } catch {
                    joint.get()?.fail(error)
                }
            },
            finished: { _ in },
            failed: { error in joint.get()?.fail(error) })
        ladderOutput.fellBack = { track, fallback in joint.get()?.encoders.fellBack(track, fallback) }
        ladderOutput.slept = { track, tick in
            packager.get()?.sleep(track: track, from: tick)
            watched.get()?.slept(track, at: tick)
        }
        ladderOutput.woke = { track, tick in
            packager.get()?.wake(track: track, at: tick)
            watched.get()?.woke(track, at: tick)
        }
        ladderOutput.entered = { track, tick in
            let now = machine.now()
            latencies.update { $0.encoding.entered(track: track, tick: tick, at: now) }
        }
        var ladderSettings = EncodingStage.Settings(pipeline)
        ladderSettings.encoders = settings.encoders
        ladderSettings.limiter = limiter
        let ladder = try EncodingStage.open(renditions: renditions, settings: ladderSettings, output: ladderOutput)
        live?.begin(ladder.parameters)
        webRTC?.begin(ladder.parameters)
        var recorder: SessionRecorder?
        if let output = pipeline.hls {
            try pipeline.checkClearDirectories()
            recorder = try RecordingService.open(output, pipeline, packager: { packager.get() }, host)
            let made = try HLSOutputService.open(
                output, pipeline, ladder, newSession: settings.newSession, clock: machine, recorder, host)
            made.watchParts { track, frames in
                guard steps.indices.contains(track) else { return }
                // The last frame of the part that is encoded in this rendition.
                let last = (frames.upperBound - 1) / steps[track] * steps[track]
                let now = machine.now()
                let time = clock.program(of: now)
                latencies.update { values in
                    values.encoding.published(track: track, lastTick: last, at: now)
                    if let time { values.viewing.partPublished(track: track, frames, at: time) }
                }
            }
            packager.set(made)
        }
        let uploads = try packager.get().map { made throws(MediaError) in
            try UploadService.open(pipeline, made, clock: machine, host)
        }
        let transports = try packager.get().map { made throws(MediaError) in
            try TransportService.open(pipeline, made, host)
        }
        guard var claimed = try CommandsFile(settings: written).claim(after: found, packager.get()) else { return nil }
        settings = claimed.resumption.settings
        let start = RoomStart(pipeline, &claimed.resumption)
        let saved = CommandRecorder(
            store: claimed.openStore { joint.get()?.tellSuperseded() },
            times: RoomTimes(clock: clock, clocks: settings.clocks))
        let passthrough = PassthroughSwitch(
            pipeline, ladder, packager.get(), lanes: roster.sources.mapValues(\.buffer.coded), host)
        if let made = WatchedRenditions(pipeline, packager.get(), ladder, clock: machine, events: events) {
            watched.set(made)
        }
        let captions = pipeline.captions.map {
            CaptionSwitch(
                $0.choice, fps: pipeline.canvas.fps, isOffline: pipeline.clock == .offline,
                lanes: roster.sources.mapValues(\.buffer.captions))
        }
        let carriers = captions.map { CaptionOutputs($0, packager.get(), live, passthrough) }
        let tap = AudioTap()
        let snapshots = SnapshotService(pipeline) { roster.sources.mapValues(\.buffer) }
        let program = try self.makeProgram(
            settings, start, roster.sources, clock, ladder, latencies, webRTC, passthrough, carriers, tap,
            snapshots, joint)
        let slate = packager.get().flatMap { SlateJob($0, pipeline, now: settings.clocks.wall.now()) }
        var logger = logger
        logger[metadataKey: "incarnation"] = "\(packager.get()?.incarnation ?? 1)"
        let outputs = OutputStages(
            settings.pipeline, ladder, packager.get(), recorder: recorder, live: live, webRTC: webRTC,
            passthrough: passthrough, watched: watched.get(), uploads: uploads ?? [], snapshots: snapshots,
            transports: transports ?? [],
            slate: slate, clock: clock, machine: machine, events: events, saved: saved, logger: logger)
        return RoomParts(
            settings: settings, roster: roster, program: program, latencies: latencies, captions: captions, tap: tap,
            outputs: outputs,
            start: start, saved: saved, resumption: claimed.resumption, logger: logger)
    }

    private static func makeProgram(
        _ settings: RoomSettings, _ start: RoomStart, _ roomSources: [SourceID: RoomSource], _ clock: ProgramClock,
        _ ladder: EncodingStage, _ latencies: RoomLatencies, _ webRTC: WebRTCFeeds?, _ passthrough: PassthroughSwitch?,
        _ captions: CaptionOutputs?, _ tap: AudioTap, _ snapshots: SnapshotService, _ joint: LateRoom
    ) throws(MediaError) -> ProgramStage {
        let pipeline = settings.pipeline
        let canvas = Program.Canvas(
            width: pipeline.canvas.width, height: pipeline.canvas.height, fps: pipeline.canvas.fps)
        var sources: [SourceID: ProgramStage.Source] = [:]
        for (id, source) in roomSources { sources[id] = try source.programSource() }
        guard let first = start.first else {
            throw MediaError(.rejected, "the pipeline has no scene", at: "program", fix: "write at least one scene")
        }
        let raws = try RawOutputs.open(pipeline, host: { joint.get() })
        let ticks = pipeline.durationMs.map {
            TimeMath.scale(Int64($0), by: Int64(canvas.fps), over: 1000, rounding: .nearest)
        }
        var stageSettings = ProgramStage.Settings(
            canvas: canvas, sampleRate: pipeline.audio.sampleRate, rampMs: pipeline.audio.rampMs,
            isOffline: pipeline.clock == .offline, durationTicks: ticks)
        stageSettings.setAudio(pipeline.audio)
        stageSettings.isAudioOnly = pipeline.isAudioOnly
        if let output = pipeline.hls { stageSettings.segmentTicks = Int64(output.gopFrames * output.segmentGops) }
        var outputs = ProgramStage.Outputs(
            picture: { picture, tick, arrival in
                snapshots.note(picture)
                if joint.get()?.areOutputsPaused != true { raws.write(picture) }
                if let arrival { latencies.update { $0.viewing.composed(tick: tick, arrival: arrival) } }
                // Called between two ticks, so that everything due at the next tick is on air with that tick.
                if pipeline.clock == .offline { joint.get()?.stepLife() }
                let isKept =
                    passthrough?.put(picture, tick: tick) ?? ladder.put(picture, tick: tick)
                if !isKept { captions?.lost(tick) }
                return isKept
            },
            audio: { samples, position in
                ladder.put(audio: samples, position: position)
                webRTC?.put(audio: samples, position: position)
                tap.put(samples, position: position, isPaused: joint.get()?.isAudioTapPaused == true)
            },
            finished: {
                passthrough?.ended(at: $0)
                tap.end()
            },
            catchingUp: {
                ladder.setWaits($0)
                joint.get()?.setCatchingUp($0)
            })
        let unwatched = passthrough == nil ? UnwatchedCanvas(pipeline, ladder) : nil
        if passthrough != nil || unwatched != nil {
            outputs.shown = { tick, view in
                let isWanted = snapshots.isAwaited
                guard
                    let outcome = passthrough?.step(tick, view, isStillWanted: isWanted)
                        ?? unwatched?.step(tick, view, isStillWanted: isWanted)
                else { return }
                if let canvas = outcome.canvas { snapshots.note(canvas) }
                guard let sources = joint.get()?.sourceParts else { return }
                sources.program.setUnseen(outcome.keyFramesOnly)
                if let source = outcome.keyFrameSource { sources.roster.sources[source]?.decode.wantKeyFrame() }
            }
        }
        if let captions {
            outputs.captioned = { tick, largest, hidden in captions.carry(at: tick, onAir: largest, hidden: hidden) }
        }
        outputs.levels = { levels in joint.get()?.note(levels) }
        outputs.speaking = { change in joint.get()?.note(change) }
        if pipeline.isAudioOnly, pipeline.clock == .offline { outputs.ticked = { _ in joint.get()?.stepLife() } }
        let stage = ProgramStage(
            settings: stageSettings, sources: sources, scene: first, clock: clock, machine: settings.clocks.machine,
            outputs: outputs,
            fonts: try RoomChecks.fonts(named: pipeline.canvas.fonts))
        try stage.prepare(start.scenes.schedule.sceneStore.scenes.map { SceneMapping.scene($0, in: pipeline) })
        return stage
    }
}
