package import Events
import HLS
import Ladder
import LibAV
package import Logging
package import MediaTypes
import Packager
import PipelineSpec
import Program
import Recording
import Stages
import Synchronization
import Upload

/// The stages of a room, made and joined, before anything runs.
struct RoomParts {
    var clock: ProgramClock
    var roster: SourceRoster
    var program: ProgramStage
    var ladder: LadderStage
    var packager: HLSPackager?
    var latencies: RoomLatencies
    var slate: SlateWork?
    var recorder: TakeRecorder?
    var live: LiveDesk?
    var passthrough: PassthroughDesk?
    var uploads: [Uploader]
    var snapshots: SnapshotDesk
    var transports: [TransportStreams]
    var start: RoomStart
    var commands: CommandStore?
    var resumption: Resumption
}

/// Late joints between stages: what is made first must reach what is made last.
private final class Joint<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    func set(_ value: Value) { self.value.withLock { $0 = value } }
    func get() -> Value? { self.value.withLock { $0 } }
}

/// The raw writer, used by the program thread only, handed to it in a box.
private final class RawOutputs: @unchecked Sendable {
    // @unchecked Sendable: written before the program thread starts, then touched by that thread alone.
    var writers: [(outputID: String, writer: RawWriter)] = []

    func write(_ picture: Picture, _ failed: (_ outputID: String, MediaError) -> Void) {
        for (outputID, writer) in self.writers {
            do throws(MediaError) { try writer.write(picture) } catch { failed(outputID, error) }
        }
    }
}

extension Room {
    /// Opens every codec, file and directory of the room, so that what is impossible is refused before it is ready.
    ///
    /// - Parameter delivery: Sends the events to the pipeline's webhooks, and to others when the room's document names others.
    /// - Throws: ``MediaError`` naming what cannot be opened.
    package static func open(
        _ settings: RoomSettings, events: RoomEvents, delivery: EventDelivery? = nil, logger: Logger
    ) throws(MediaError) -> Room {
        for _ in 0..<Self.mostOpenings {
            // Before the room is claimed: the worker before may still be there and write.
            let resumption = Self.resumption(settings)
            if let room = try self.make(settings, resumption, events, delivery, logger) { return room }
        }
        throw MediaError(
            .notCreatable, "\(CommandedState.name) changes while the room opens", at: "commands",
            fix: "start one worker at a time")
    }

    /// A document can change between the first look at it and the claim, and not after that.
    private static let mostOpenings = 3

    /// - Returns: `nil` if the worker before has taken another document until this one claimed the room: it is to be made by that.
    private static func make(
        _ written: RoomSettings, _ found: Resumption, _ events: RoomEvents, _ delivery: EventDelivery?, _ logger: Logger
    ) throws(MediaError) -> Room? {
        var settings = found.settings
        let pipeline = settings.pipeline
        let joint = Joint<Room>()
        let machine = settings.clocks.machine
        let clock = ProgramClock(machine: machine)
        let roster = try self.makeSlots(pipeline, clock, machine, joint)
        let packager = Joint<HLSPackager>()
        let rungs = self.rungs(pipeline)
        let steps = rungs.map { Int64($0.frameStep) }
        let latencies = RoomLatencies(tracks: rungs.count)
        let live = LiveDesk(pipeline, settings.egress, clock: machine)
        var ladderOutput = LadderStage.Output(
            packet: { track, packet in
                if steps.indices.contains(track) {
                    let tick = packet.pts / VideoEncoder.ticksPerPicture &* steps[track]
                    let now = machine.now()
                    latencies.update { $0.encoding.coded(track: track, tick: tick, at: now) }
                }
                live?.receive(track: track, packet)
                packager.get()?.receive(track: track, packet)
            },
            configuration: { track, change in
                live?.configure(track: track, change)
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
        ladderOutput.entered = { track, tick in
            let now = machine.now()
            latencies.update { $0.encoding.entered(track: track, tick: tick, at: now) }
        }
        let ladder = try LadderStage.open(
            rungs: rungs, settings: self.ladderSettings(pipeline, settings.encoders), output: ladderOutput)
        live?.begin(ladder.parameters)
        var recorder: TakeRecorder?
        if let output = pipeline.hls {
            try self.checkClearPlaces(pipeline)
            recorder = try self.makeRecorder(output, pipeline, packager, joint)
            let made = try self.makePackager(output, settings, ladder, recorder, joint)
            made.watchParts { track, frames in
                guard steps.indices.contains(track) else { return }
                // The last picture the encoder had for it.
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
            try self.makeUploads(pipeline, made, clock: machine, slate: { joint.get()?.uploadSlate }) {
                joint.get()?.store($0, did: $1)
            }
        }
        let transports = try packager.get().map { made throws(MediaError) in
            try self.makeTransports(pipeline, made) { joint.get()?.output($0, did: $1) }
        }
        guard let claimed = try self.claimed(written, found, packager.get()) else { return nil }
        var resumption = claimed.resumption
        settings = resumption.settings
        let start = RoomStart(pipeline, &resumption)
        let commands = self.openCommands(&resumption, claimed.file) { joint.get()?.tellSuperseded() }
        let passthrough = PassthroughDesk(pipeline, ladder, packager.get(), roster.slots) {
            joint.get()?.passthrough(did: $0)
        }
        let snapshots = SnapshotDesk(pipeline, roster)
        let program = try self.makeProgram(
            settings, start, roster.slots, clock, ladder, latencies, passthrough, snapshots, joint)
        let slate = packager.get().flatMap { SlateWork($0, pipeline, now: settings.clocks.wall.now()) }
        let incarnation = packager.get()?.incarnation ?? 1
        var logger = logger
        logger[metadataKey: "incarnation"] = "\(incarnation)"
        let room = Room(
            settings: settings, events: events, delivery: delivery, logger: logger,
            parts: RoomParts(
                clock: clock, roster: roster, program: program, ladder: ladder, packager: packager.get(),
                latencies: latencies, slate: slate, recorder: recorder, live: live, passthrough: passthrough,
                uploads: uploads ?? [], snapshots: snapshots,
                transports: transports ?? [], start: start, commands: commands, resumption: resumption))
        events.setIncarnation(incarnation)
        joint.set(room)
        room.beginSlate()
        commands?.start()
        room.resumeSources()
        return room
    }

    private static func makeSlots(
        _ pipeline: Pipeline, _ clock: ProgramClock, _ machine: any SleepClock, _ joint: Joint<Room>
    ) throws(MediaError) -> SourceRoster {
        var slots: [SourceID: SourceSlot] = [:]
        let aligner = WallAligner()
        for source in pipeline.sources {
            let slot = SourceSlot(
                spec: source, pipeline: pipeline, clock: clock, machine: machine, aligner: aligner
            ) {
                joint.get()?.source($0, did: $1)
            }
            if case .file(let path, let loops) = source.input {
                var reader = FileReader(path: path, loops: loops, place: "source[\(source.id)]")
                let parameters = try reader.probe()
                slot.keep(reader)
                slot.buffer.setTracks(
                    video: parameters.contains { $0.kind == .video }, audio: parameters.contains { $0.kind == .audio })
            }
            slots[source.id] = slot
        }
        return SourceRoster(slots, aligner: aligner)
    }

    /// A source as the program takes it.
    ///
    /// - Throws: ``MediaError`` for an image that cannot be read.
    static func programSource(_ slot: SourceSlot) throws(MediaError) -> ProgramStage.Source {
        let placeholder = try slot.spec.onLost.placeholderImage.map { path throws(MediaError) in
            try Picture.load(path: path, place: "source[\(slot.spec.id)]")
        }
        return ProgramStage.Source(
            buffer: slot.buffer, name: slot.spec.name ?? slot.spec.id.description,
            volume: Float(slot.spec.volume) / 100, hold: Int64(slot.spec.onLost.resolvedHoldMs) * 1_000_000,
            stalledHold: slot.spec.stalledHoldMs.map { Int64($0) * 1_000_000 }, placeholder: placeholder)
    }

    private static func rungs(_ pipeline: Pipeline) -> [Rung] {
        pipeline.pictureRenditions.map { rendition in
            var settings = VideoEncoderSettings(
                width: rendition.width, height: rendition.height, fps: rendition.fps,
                preset: rendition.video.preset.x264Name, profile: rendition.video.profile.rawValue,
                bitrate: rendition.video.bitrate, maxBitrate: rendition.video.maxBitrate,
                bufferSize: rendition.video.bufferSize, bFrames: rendition.video.bFrames,
                lookaheadFrames: rendition.video.lookaheadFrames, threads: rendition.video.threads)
            settings.x264Parameters = rendition.video.preset.x264Parameters
            if rendition.video.passthrough == .auto { settings.parameterSetID = PassthroughDesk.parameterSetID }
            return Rung(
                name: rendition.name, settings: settings, frameStep: Self.frameStep(of: rendition, pipeline))
        }
    }

    /// Canvases from one picture of the rendition to the next.
    private static func frameStep(of rendition: Rendition, _ pipeline: Pipeline) -> Int {
        max(1, pipeline.canvas.fps / max(1, rendition.fps))
    }

    private static func ladderSettings(_ pipeline: Pipeline, _ encoders: LadderEncoders) -> LadderStage.Settings {
        var settings = LadderStage.Settings(
            width: pipeline.canvas.width, height: pipeline.canvas.height, fps: pipeline.canvas.fps,
            gopFrames: pipeline.hls?.gopFrames ?? 32, sampleRate: pipeline.audio.sampleRate,
            audioBitrates: pipeline.audioRenditions.map(\.bitrate), isOffline: pipeline.clock == .offline)
        settings.encoders = encoders
        settings.opening = self.opening(pipeline)
        // A job is not continued by another worker.
        if !settings.isOffline { settings.partFrames = pipeline.hls?.partFrames }
        return settings
    }

    /// The short segments a live room begins with.
    private static func opening(_ pipeline: Pipeline) -> OpeningSegments? {
        guard pipeline.clock == .live, let output = pipeline.hls else { return nil }
        return OpeningSegments(
            fps: pipeline.canvas.fps, gopFrames: output.gopFrames,
            segmentFrames: output.gopFrames * output.segmentGops,
            steps: pipeline.pictureRenditions.map { self.frameStep(of: $0, pipeline) })
    }

    /// How the HLS output lists, but for a new session.
    ///
    /// - Throws: ``MediaError/Code/rejected`` for a grid that cannot be, ``MediaError/Code/notReadable`` for a secret.
    static func hlsSettings(_ output: HLSOutput, _ pipeline: Pipeline) throws(MediaError) -> HLSOutputSettings {
        let grid = try OutputGrid(
            fps: pipeline.canvas.fps, gopFrames: output.gopFrames, segmentGops: output.segmentGops,
            partFrames: output.partFrames, sampleRate: pipeline.audio.sampleRate)
        let variants = pipeline.renditions.flatMap { rendition in
            rendition.audio.map { name in
                HLSOutputSettings.Variant(video: rendition.isAudioOnly ? nil : rendition.name, audio: name)
            }
        }
        var hls = HLSOutputSettings(
            directory: output.path, multivariantName: output.multivariantPlaylist, grid: grid,
            windowSeconds: output.windowSeconds, playlistType: output.playlistType == .event ? .event : .live,
            deleteGraceSeconds: output.deleteGraceSeconds, title: pipeline.room.title,
            waitsForStore: pipeline.clock == .offline, variants: variants)
        hls.contentID = pipeline.room.roomID
        hls.opening = self.opening(pipeline)
        hls.iFramePlaylists = output.iFramePlaylists
        hls.encryption = try pipeline.encryptionSettings()
        return hls
    }

    private static func makePackager(
        _ output: HLSOutput, _ settings: RoomSettings, _ ladder: LadderStage, _ recorder: TakeRecorder?,
        _ joint: Joint<Room>
    ) throws(MediaError) -> HLSPackager {
        let pipeline = settings.pipeline
        var tracks: [TrackDescription] = []
        let renditions = pipeline.pictureRenditions
        for (rendition, parameters) in zip(renditions, ladder.parameters) {
            var track = TrackDescription(
                name: rendition.name, kind: .video, parameters: parameters, width: rendition.width,
                height: rendition.height, bitrate: Int64(rendition.video.bitrate),
                maxBitrate: Int64(rendition.video.maxBitrate), bufferSize: Int64(rendition.video.bufferSize),
                frameStep: Self.frameStep(of: rendition, pipeline))
            // A publisher's packets may use all of the buffer.
            if rendition.video.passthrough == .off { track.bufferShare = rendition.video.preset.bufferShare }
            tracks.append(track)
        }
        for (sound, parameters) in zip(pipeline.audioRenditions, ladder.parameters.dropFirst(renditions.count)) {
            tracks.append(
                TrackDescription(
                    name: sound.name, kind: .audio, parameters: parameters, bitrate: Int64(sound.bitrate),
                    channels: pipeline.audio.channels))
        }
        var hls = try self.hlsSettings(output, pipeline)
        hls.newSession = settings.newSession
        return try HLSPackager.open(
            hls, tracks: tracks, clock: settings.clocks.machine, keeper: recorder
        ) { joint.get()?.packager(did: $0) }
    }

    private static func makeRecorder(
        _ output: HLSOutput, _ pipeline: Pipeline, _ packager: Joint<HLSPackager>, _ joint: Joint<Room>
    ) throws(MediaError) -> TakeRecorder? {
        guard let settings = RecordingSettings(pipeline) else { return nil }
        let store = DirectoryStore(directory: output.path)
        var clear: (@Sendable (KeptSlot.Track) -> [UInt8]?)?
        if output.encryption != nil {
            clear = { track in packager.get()?.clearBytes(of: track.segment, track: track.name) }
        }
        return try TakeRecorder.open(
            settings, isActive: pipeline.record?.active ?? true, source: { store.path(of: $0) }, clear: clear,
            report: { joint.get()?.recorder(did: $0) }, over: { joint.get()?.takeEnded($0) })
    }

    private static func makeProgram(
        _ settings: RoomSettings, _ start: RoomStart, _ slots: [SourceID: SourceSlot], _ clock: ProgramClock,
        _ ladder: LadderStage, _ latencies: RoomLatencies, _ passthrough: PassthroughDesk?, _ snapshots: SnapshotDesk,
        _ joint: Joint<Room>
    ) throws(MediaError) -> ProgramStage {
        let pipeline = settings.pipeline
        let canvas = Program.Canvas(
            width: pipeline.canvas.width, height: pipeline.canvas.height, fps: pipeline.canvas.fps)
        var sources: [SourceID: ProgramStage.Source] = [:]
        for (id, slot) in slots { sources[id] = try self.programSource(slot) }
        guard let first = start.scene else {
            throw MediaError(.rejected, "the pipeline has no scene", at: "program", fix: "write at least one scene")
        }
        let raws = RawOutputs()
        for raw in pipeline.raws {
            raws.writers.append(
                (
                    raw.outputID,
                    try RawWriter.open(path: raw.path, width: canvas.width, height: canvas.height, fps: canvas.fps)
                ))
        }
        let ticks = pipeline.durationMs.map {
            TimeMath.scale(Int64($0), by: Int64(canvas.fps), over: 1000, rounding: .nearest)
        }
        var stageSettings = ProgramStage.Settings(
            canvas: canvas, sampleRate: pipeline.audio.sampleRate, rampMs: pipeline.audio.rampMs,
            isOffline: pipeline.clock == .offline, durationTicks: ticks)
        stageSettings.setSound(pipeline.audio)
        if let output = pipeline.hls { stageSettings.segmentTicks = Int64(output.gopFrames * output.segmentGops) }
        var outputs = ProgramStage.Outputs(
            picture: { picture, tick, arrival in
                snapshots.note(picture)
                if joint.get()?.areOutputsPaused != true {
                    raws.write(picture) { joint.get()?.lost(of: $0, because: $1) }
                }
                if let arrival { latencies.update { $0.viewing.composed(tick: tick, arrival: arrival) } }
                // Between two ticks: what falls due at the next one is on air with it.
                if pipeline.clock == .offline { joint.get()?.stepLife() }
                guard let passthrough else { return ladder.put(picture, tick: tick) }
                return passthrough.put(picture, tick: tick)
            },
            sound: { ladder.put(sound: $0, position: $1) },
            finished: { passthrough?.ended(at: $0) },
            catchingUp: {
                ladder.setWaits($0)
                joint.get()?.setCatchingUp($0)
            })
        if let passthrough {
            outputs.shown = { tick, view in
                let unseen = passthrough.step(tick, view)
                joint.get()?.program.setUnseen(unseen)
            }
        }
        outputs.levels = { levels in joint.get()?.value.withLock { $0.levels.note(levels) } }
        let stage = ProgramStage(
            settings: stageSettings, sources: sources,
            scene: SceneMapping.scene(
                first, in: pipeline, without: start.life.onAir.without, overlays: start.overlays), clock: clock,
            machine: settings.clocks.machine, outputs: outputs,
            fonts: try RoomChecks.fonts(named: pipeline.canvas.fonts))
        try stage.prepare(start.desk.shelf.scenes.map { SceneMapping.scene($0, in: pipeline) })
        return stage
    }
}
