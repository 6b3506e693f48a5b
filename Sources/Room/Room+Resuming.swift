import Control
import MediaTypes
import Packager
import PipelineSpec
import Program
import RoomOutputs
import RoomScenes

/// Restores the state commanded to earlier workers: before publishers are admitted, and before the first tick.
extension Room {
    // MARK: The file

    /// The file of a room's commanded state; `nil`: it is not saved.
    static func commandsPlace(_ pipeline: Pipeline) -> (directory: String, name: String)? {
        guard pipeline.clock == .live, let hls = pipeline.hls else { return nil }
        guard let directory = pipeline.control.stateDirectory else { return (hls.path, CommandedState.name) }
        // Several rooms may share the directory.
        return (directory, "\(pipeline.room.roomID).\(CommandedState.name)")
    }

    /// Reads the state to continue with.
    static func resumption(_ settings: RoomSettings) -> Resumption {
        guard let place = self.commandsPlace(settings.pipeline), !self.startsAnew(settings) else {
            return Resumption(settings, nil)
        }
        let resumption = Resumption(settings, DirectoryStore(directory: place.directory).read(place.name))
        let last = settings.pipeline.hls.flatMap { EndedOutput.lastIncarnation(inDirectory: $0.path) } ?? 0
        return resumption.state.incarnation <= last ? resumption : Resumption(settings, nil)
    }

    private static func startsAnew(_ settings: RoomSettings) -> Bool {
        settings.forgets || settings.newSession && EndedRoom.exists(settings.pipeline)
    }

    /// Reads the state again, once this worker has claimed the room and no earlier worker writes it any more.
    ///
    /// - Returns: `nil` if the document differs from the one that was found before the claim; otherwise the state, and
    ///   the file, if the room has one.
    /// - Throws: ``MediaError/Code/notCreatable``.
    static func claimed(
        _ settings: RoomSettings, _ found: Resumption, _ packager: HLSPackager?
    ) throws(MediaError) -> (resumption: Resumption, file: ClaimedFile?)? {
        guard let packager, let place = self.commandsPlace(settings.pipeline) else { return (found, nil) }
        try DirectoryStore(directory: place.directory).prepare()
        let file = ClaimedFile(
            place.name, in: place.directory, claim: packager.claim, reached: settings.commandsReached)
        file.removeLeftovers()
        var resumption = found
        if found.bytes != nil || !self.startsAnew(settings) {
            let bytes = file.read()
            if bytes != found.bytes { resumption = Resumption(settings, bytes) }
        }
        // The room in the directory was started anew: the file belongs to the previous one.
        if resumption.state.incarnation >= packager.incarnation {
            try? file.remove()
            resumption = Resumption(settings, nil)
        }
        return resumption.settings.document?.effective == found.settings.document?.effective ? (resumption, file) : nil
    }

    /// Opens the store for new commands. First saves that this worker restores the state, so that its death counts as
    /// an attempt.
    static func openCommands(
        _ resumption: inout Resumption, _ file: ClaimedFile?, superseded: @escaping @Sendable () -> Void
    ) -> CommandStore? {
        guard let file else { return nil }
        if resumption.keepsAside, let bytes = resumption.bytes { try? file.beside(Resumption.asideSuffix).write(bytes) }
        resumption.state.incarnation = file.incarnation
        if resumption.state.isPlain {
            try? file.remove()
        } else {
            resumption.state.attempts += 1
            var state = resumption.state
            state.fileMembers = resumption.file.map { state.hashes(of: $0) } ?? [:]
            // If this fails, then the next write reports it.
            try? file.write(state.bytes)
        }
        resumption.state.fileMembers = [:]
        return CommandStore(
            resumption.state, file: resumption.file, place: file, clock: resumption.settings.clocks.machine,
            superseded: superseded)
    }

    // MARK: Before publishers are admitted

    /// Restores volumes, offsets, rotations, mutes and covers of sources.
    func resumeSources() {
        let state = self.value.withLock { $0.resumption.state }
        for (id, known) in state.sources {
            guard let slot = self.slots[id] else { continue }
            if let offset = known.offsetMs { slot.decode.setOffset(milliseconds: offset) }
            if let rotation = known.rotation { slot.decode.setRotation(rotation / 90) }
            for (track, volume) in known.trackVolumes {
                slot.buffer.setGain(Float(volume) / 100, ofTrack: UInt8(clamping: track), over: 1)
            }
            self.program.setSource(
                id, volume: known.volume.map { Float($0) / 100 }, audioPush: known.audioPush,
                videoPush: known.videoPush)
        }
    }

    /// Ends the room if the previous worker was asked to do so: after this worker has reported that it is ready, and
    /// before its first tick.
    func resumeEnd() { if self.value.withLock({ $0.resumption.state.isEnded }) { self.end(reason: "control") } }

    /// Restores kicks.
    func resumeRefusals() {
        let now = self.clocks.wall.now()
        for (id, known) in self.value.withLock({ $0.resumption.state.sources }) {
            guard let until = known.refusedUntil else { continue }
            if !self.value.withLock({ $0.sources.refusals.restoreKick(of: id, until: until, now: now) }) {
                self.saved.store?.update(.soon) { $0.change(id) { $0.refusedUntil = nil } }
            }
        }
    }

    /// Restores the running PK. The end of its phase is known only once the room's clock runs; see
    /// ``resumeProgram(at:)``.
    func resumePK() {
        guard let pk = self.value.withLock({ $0.resumption.state.pk }) else { return }
        let since = self.saved.times.machine(ofRoom: pk.since)
        let isThere = self.value.withLock { value in
            value.resumption.refused += pk.scenes.members.filter { value.scenes.life.scene($0.id) == nil }.map {
                Resumption.Refusal(member: "pk.\($0.name)", reason: "there is no scene \"\($0.id)\" any more")
            }
            return value.scenes.life.resumePK(
                pk.phase, since: since, endsAt: nil, durations: pk.durations, hasStartedItself: pk.hasStartedItself,
                scenes: pk.scenes)
        }
        if isThere { return }
        self.value.withLock { value in
            value.resumption.state.pk = nil
            value.resumption.refused.append(
                Resumption.Refusal(member: "pk", reason: "the pipeline file has no PK any more"))
        }
        self.saved.store?.update(.soon) { $0.pk = nil }
    }

    /// Emits what was restored and what was not.
    func announceResumed() {
        let resumption = self.value.withLock { $0.resumption }
        let restored = resumption.restored
        guard !restored.isEmpty || !resumption.refused.isEmpty else { return }
        for refusal in resumption.refused {
            self.logger.warning(
                "a command to the previous worker is not restored",
                metadata: ["member": "\(refusal.member)", "reason": "\(refusal.reason)"])
        }
        self.events.emit(
            "room.resumed",
            [
                "restored": .array(restored.prefix(Self.mostTold).map { .string($0) }),
                "notRestored": .array(
                    resumption.refused.prefix(Self.mostTold).map {
                        ["member": .string($0.member), "reason": .string($0.reason)]
                    }),
                "reduced": .bool(resumption.isReduced),
            ])
    }

    /// Most members in the event.
    private static let mostTold = 256

    // MARK: Before the first tick

    /// Restores the end of the PK's phase and the scheduled scenes. Those that were due meanwhile are carried out now.
    func resumeProgram(at firstTick: Int64) {
        let state = self.value.withLock { $0.resumption.state }
        let due = state.upcoming.filter { $0.tick <= firstTick }
        self.scenes.change { schedule in
            if let last = due.last, let scene = schedule.shelf[last.scene] {
                self.resume(last) { () throws(ControlFailure) in
                    let showing = try self.scenes.command(scene, nil, &schedule)
                    schedule.onAir.tick = last.tick
                    SceneSchedule.begin(&schedule.onAir, scene, fps: self.fps)
                    self.scenes.announce(showing, reason: "room.resumed")
                }
            }
            for showing in state.upcoming where showing.tick > firstTick {
                guard let scene = schedule.shelf[showing.scene] else { continue }
                self.resume(showing) { () throws(ControlFailure) in
                    _ = try self.scenes.show(
                        scene, without: [], at: showing.tick, showing.transition, &schedule)
                }
            }
            if let pk = state.pk { self.resume(pk, at: firstTick, &schedule) }
        }
    }

    private func resume(_ showing: CommandedState.Showing, _ body: () throws(ControlFailure) -> Void) {
        do throws(ControlFailure) {
            try body()
        } catch {
            self.events.emit(
                "program.failed", ["scene": .string(showing.scene), "reason": .string("\(error.what). \(error.fix)")])
        }
    }

    private func resume(_ pk: CommandedState.PK, at firstTick: Int64, _ schedule: inout SceneSchedule) {
        let (since, end) = (self.saved.times.machine(ofRoom: pk.since), pk.endsAt.map { self.saved.times.machine(ofRoom: $0) })
        let resumed = self.withScenes { scenes, context -> (PKLife, PipelineSpec.Scene?)? in
            // A command may have changed the PK already.
            guard scenes.life.phases.phase == pk.phase, scenes.life.phases.isRunning, scenes.life.phases.endsAt == nil
            else {
                return nil
            }
            _ = scenes.life.resumePK(
                pk.phase, since: since, endsAt: end, durations: pk.durations, hasStartedItself: pk.hasStartedItself,
                scenes: pk.scenes)
            self.scenes.receive(.poll([:]), at: self.machine.now(), &scenes, context)
            return (scenes.life.phases, scenes.life.pkScene)
        }
        self.scenes.settle(&schedule)
        guard let (phase, scene) = resumed, phase.isRunning, phase.phase == pk.phase else { return }
        self.scenes.redrawCountdowns(isShown: false, &schedule)
        let change = PKLife.Change(from: pk.phase, to: pk.phase, at: since, endsAt: end)
        self.mark([change], of: scene, shownAt: firstTick)
    }
}
