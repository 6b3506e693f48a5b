import Control
import PipelineSpec
import RoomOutputs
import RoomScenes
import RoomSources

/// Restores what was commanded to earlier workers of the room: settings of sources when the room is opened; kicks, grace
/// periods and the PK before publishers are admitted; relays and recordings of sources after that; scheduled
/// scenes before the first tick.
struct Restoration {
    let host: any ScenesHost & SourcesHost & OutputsHost
    let scenes: SceneChanges
    let resumption: RoomPart<Resumption>
    let saved: CommandRecorder

    private var state: CommandedState { self.resumption.withLock(\.state) }
    private var parts: SourceParts { self.host.sourceParts }

    private func refuse(_ member: String, _ reason: String) {
        self.resumption.withLock { $0.refused.append(Resumption.Refusal(member: member, reason: reason)) }
    }

    // MARK: When the room is opened

    /// Restores the volumes, offsets, rotations, mutes and covers of sources.
    func restoreSources() {
        for (id, known) in self.state.sources {
            guard let source = self.parts.roster.sources[id] else { continue }
            source.set(offset: known.offsetMs, rotation: known.rotation)
            for (track, volume) in known.trackVolumes { source.setVolume(volume, ofTrack: track) }
            self.parts.program.setSource(
                id, volume: known.volume.map { Float($0) / 100 }, audioPush: known.audioPush,
                videoPush: known.videoPush)
        }
    }

    // MARK: Before publishers are admitted

    /// Restores kicks: for how long kicked sources may not be published again.
    func restoreRefusals() {
        let now = self.parts.clocks.wall.now()
        for (id, known) in self.state.sources {
            guard let until = known.refusedUntil else { continue }
            if !self.host.withSources({ $0.refusals.restoreKick(of: id, until: until, now: now) }) {
                self.saved.store?.update(.soon) { $0.change(id) { $0.refusedUntil = nil } }
            }
        }
    }

    /// Continues the grace periods of sources that were lost while an earlier worker served the room. A source whose
    /// grace period was over is gone.
    func restoreGraces() {
        let now = self.parts.clocks.machine.now()
        let sources = self.parts.roster.sources
        for (id, known) in self.state.sources {
            guard let until = known.graceUntil, sources[id]?.isFile == false else { continue }
            let end = until > 0 ? self.saved.times.machine(ofRoom: until) : nil
            self.host.withScenes { scenes, _ in scenes.life.resumeLost(id, until: end, now: now) }
            sources[id]?.setState(end == nil ? .gone : .reconnecting)
        }
    }

    /// Restores the PK that was running. When its phase ends is known only once the room's clock runs; see
    /// ``restoreProgram(at:)``.
    func restorePK() {
        guard let pk = self.state.pk else { return }
        let since = self.saved.times.machine(ofRoom: pk.since)
        let (isThere, missing) = self.host.withScenes { scenes, _ in
            let missing = pk.scenes.members.filter { scenes.life.scene($0.id) == nil }
            let isThere = scenes.life.resumePK(
                pk.phase, since: since, endsAt: nil, durations: pk.durations, hasStartedItself: pk.hasStartedItself,
                scenes: pk.scenes)
            return (isThere, missing)
        }
        for scene in missing { self.refuse("pk.\(scene.name)", "there is no scene \"\(scene.id)\" any more") }
        if isThere { return }
        self.resumption.withLock { $0.state.pk = nil }
        self.refuse("pk", "the pipeline file has no PK any more")
        self.saved.store?.update(.soon) { $0.pk = nil }
    }

    /// Restarts the relays that commands to earlier workers have started, if they are still allowed. Called when the
    /// publishers' listener is open.
    func restoreRelays() {
        for relay in self.state.relays {
            guard let reason = self.host.relaying.resume(relay.id, of: relay.source, url: relay.url) else { continue }
            self.resumption.withLock { $0.state.relays.removeAll { $0 == relay } }
            self.refuse("sources[\(relay.source)].relays[\(relay.id)]", reason)
            self.saved.saveRelay(relay.id, of: relay.source, url: nil)
        }
    }

    /// Starts the recordings of sources: those of the pipeline file, and as commands to earlier workers have changed them.
    func restoreRecordings() {
        let known = self.state.sources
        self.host.sourceRecording.start { known[$0]?.recording }
    }

    // MARK: When the room is ready

    /// Emits `room.resumed` with what was restored and what was not.
    func announce() {
        let resumption = self.resumption.withLock { $0 }
        let restored = resumption.restored
        guard !restored.isEmpty || !resumption.refused.isEmpty else { return }
        for refusal in resumption.refused {
            self.parts.logger.warning(
                "a command to the previous worker is not restored",
                metadata: ["member": "\(refusal.member)", "reason": "\(refusal.reason)"])
        }
        self.parts.events.emit(
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

    /// Most members listed in the event.
    private static let mostTold = 256

    /// Reports the clips that an earlier worker did not finish as failed.
    func reportClips() {
        for lost in self.state.clips {
            self.host.outputs.clips.noteLost(lost.id, name: lost.name, rendition: lost.rendition, range: lost.range)
        }
        self.saved.store?.update(.soon) { $0.clips = [] }
    }

    /// Since when the room has had no publisher, as the previous worker saved it, in nanoseconds on this worker's
    /// monotonic clock. Nil if the room had a publisher when the state was saved, or if no state was saved.
    var idleSince: Int64? {
        self.state.idleSince.map { min(self.parts.clocks.machine.now(), self.saved.times.machine(ofRoom: $0)) }
    }

    // MARK: Before the first tick

    /// Restores the end of the PK's phase and the scheduled scenes. Of the scenes whose tick has already passed, the last
    /// goes on air now.
    func restoreProgram(at firstTick: Int64) {
        let state = self.state
        let due = state.upcoming.filter { $0.tick <= firstTick }
        self.scenes.change { schedule in
            if let last = due.last, let scene = schedule.sceneStore[last.scene] {
                self.restore(last) { () throws(ControlFailure) in
                    let showing = try self.scenes.command(scene, nil, &schedule)
                    schedule.onAir.tick = last.tick
                    SceneSchedule.begin(&schedule.onAir, scene, fps: self.scenes.times.fps)
                    self.scenes.announce(showing, reason: "room.resumed")
                }
            }
            for showing in state.upcoming where showing.tick > firstTick {
                guard let scene = schedule.sceneStore[showing.scene] else { continue }
                self.restore(showing) { () throws(ControlFailure) in
                    _ = try self.scenes.show(scene, without: [], at: showing.tick, showing.transition, &schedule)
                }
            }
            if let pk = state.pk { self.restore(pk, at: firstTick, &schedule) }
        }
    }

    private func restore(_ showing: CommandedState.Showing, _ body: () throws(ControlFailure) -> Void) {
        do throws(ControlFailure) {
            try body()
        } catch {
            self.parts.events.emit(
                "program.failed", ["scene": .string(showing.scene), "reason": .string("\(error.what). \(error.fix)")])
        }
    }

    private func restore(_ pk: CommandedState.PK, at firstTick: Int64, _ schedule: inout SceneSchedule) {
        let times = self.saved.times
        let (since, end) = (times.machine(ofRoom: pk.since), pk.endsAt.map { times.machine(ofRoom: $0) })
        let resumed = self.host.withScenes { scenes, context -> (PKStateMachine, Scene?)? in
            // A command may have changed the PK in the meantime.
            guard scenes.life.phases.phase == pk.phase, scenes.life.phases.isRunning, scenes.life.phases.endsAt == nil
            else {
                return nil
            }
            _ = scenes.life.resumePK(
                pk.phase, since: since, endsAt: end, durations: pk.durations, hasStartedItself: pk.hasStartedItself,
                scenes: pk.scenes)
            self.scenes.receive(.poll([:]), at: times.clocks.machine.now(), &scenes, context)
            return (scenes.life.phases, scenes.life.pkScene)
        }
        self.scenes.settle(&schedule)
        guard let (phase, scene) = resumed, phase.isRunning, phase.phase == pk.phase else { return }
        self.scenes.redrawCountdowns(isShown: false, &schedule)
        let change = PKStateMachine.Change(from: pk.phase, to: pk.phase, at: since, endsAt: end)
        self.host.marks.mark([change], of: scene, shownAt: firstTick)
    }
}
