import Control
import Events
import MediaTypes
import PipelineSpec
import PublishAuth
import RoomOutputs
import RoomScenes
import RoomSources

/// Records what commands and publishers have changed, for the next worker: changes the room's ``CommandedState`` in the
/// ``CommandStore`` after they were applied.
///
/// ``Restoration`` changes the stored state too: it removes what could not be restored. The recorder itself has no lock;
/// the store's is held only while the state is changed, never for a write, so the recorder can be used while the room's
/// state is locked.
struct CommandRecorder: Sendable {
    /// The store of the commanded state; nil if no later worker could find it, for example in an offline job.
    let store: CommandStore?
    let times: RoomTimes

    // MARK: Sources

    func record(_ source: SourceID, _ change: SourceChange) {
        let isVolume = change.audioPush == nil && change.videoPush == nil && change.offsetMs == nil
        self.store?.update(isVolume && change.rotation == nil ? .soon : .now) { state in
            state.change(source) { known in
                if let push = change.videoPush { known.videoPush = push ? nil : false }
                if let push = change.audioPush { known.audioPush = push ? nil : false }
                if let volume = change.volume {
                    if let track = change.audioTrack {
                        known.trackVolumes[track] = volume
                    } else {
                        known.volume = volume
                    }
                }
                known.offsetMs = change.offsetMs ?? known.offsetMs
                known.rotation = change.rotation ?? known.rotation
            }
        }
    }

    /// Records until when the room waits for a lost source to return.
    ///
    /// - Parameter end: On the machine's clock.
    func record(_ source: SourceID, _ change: SourceStateMachine.Change, graceUntil end: Int64?) {
        guard let store = self.store else { return }
        let end = end.map { self.times.room(ofMachine: $0) }
        switch change.to {
        // A time in the past means that the room no longer waits for the source.
        case .gone: store.update(.soon) { $0.change(source) { $0.graceUntil = 0 } }
        case .reconnecting: store.update(.soon) { $0.change(source) { $0.graceUntil = end } }
        case .live: store.update(.soon) { $0.change(source) { $0.graceUntil = nil } }
        case .idle, .connected, .publishing, .stalled, .lost, .ended: break
        }
    }

    /// Records settings of a source that a new document version has changed: they replace the values set by commands.
    func recordDocument(of source: SourceID, _ change: (inout CommandedState.Source) -> Void) {
        self.store?.update(.now) { $0.change(source, change) }
    }

    /// Removes the recorded commands for a source that has left the room.
    func forget(_ source: SourceID) { self.store?.update(.now) { $0.forget(source) } }

    // MARK: The room

    /// Records that the room now runs another version of its document.
    ///
    /// - Parameters:
    ///   - file: The document of the pipeline file; only differences from it are saved.
    ///   - before: The version that the room ran until now. Scenes that differ between the two versions replace what
    ///     commands have made of them.
    ///   - sceneStore: The scenes of the room, with the changes of commands.
    func record(_ document: RoomDocument, of file: RoomDocument, after before: RoomDocument, _ sceneStore: SceneStore) {
        guard let store = self.store else { return }
        let salt = store.value.salt
        let edits = document.edits(from: file) { HashedStreamKey.seal($0, salt: salt) }
        let (old, new) = (before.pipeline, document.pipeline)
        let changed = Set(old.scenes.map(\.sceneID) + new.scenes.map(\.sceneID)).filter {
            old.scene($0) != new.scene($0)
        }
        store.update(.now) { state in
            // Removed sources leave at a later tick: a successor must not restore commands for them that arrive until
            // then.
            for source in old.sources where new.source(source.id) == nil { state.forget(source.id) }
            let isFile = edits.isEmpty && document.revision == file.revision
            state.document = isFile ? nil : CommandedState.Document(revision: document.revision, edits: edits)
            for id in changed {
                // If commands have increased the revision, then the next revision must be higher.
                let revision = sceneStore[id]?.revision ?? 0
                let isAbove = revision > (new.scene(id)?.revision ?? revision)
                state.scenes[id] = isAbove ? CommandedState.SceneChange(revision: revision) : nil
            }
        }
    }

    /// Records since when the room has had no publisher.
    ///
    /// - Parameter since: Time on the monotonic clock; nil if the room has a publisher.
    func recordIdle(since: Int64?) {
        let since = since.map { self.times.room(ofMachine: $0) }
        self.store?.update(.soon) { $0.idleSince = since }
    }

    /// Records the alarms that are active.
    func record(_ alarms: [CommandedState.Alarm]) { self.store?.update(.soon) { $0.alarms = alarms } }

    /// The alarm while the last commands are not on disk; nil if they are, if they are expected to be soon, if another
    /// worker has claimed the room, or if this worker does not save commands.
    var alarm: RoomAlarm? {
        self.store?.problem.map {
            RoomAlarm(
                "commands.not_durable", "alert_2", kind: "output",
                message: "the next worker would not restore the last commands: \($0)")
        }
    }

    // MARK: This worker's end

    /// Records that the restored state did not make this worker crash, so that its attempt does not count.
    func endProbation() { self.store?.update(.soon) { $0.attempts = 0 } }

    /// Records that the room was asked to end, or has ended by itself.
    func recordEnd() { self.store?.update(.now) { $0.isEnded = true } }

    /// Tries once more to write pending changes, and stops the store. If the room and its playlists have ended, the file
    /// is removed instead. Blocks.
    ///
    /// - Parameters:
    ///   - outcome: Why this worker stops.
    ///   - isEndOwed: Whether the next worker must still complete the playlists.
    ///   - deadline: Latest time to wait for the write, in nanoseconds of the monotonic clock; if less than 0.5 s is
    ///     left, 0.5 s.
    func close(_ outcome: RoomOutcome, isEndOwed: Bool, by deadline: Int64) {
        guard let store = self.store else { return }
        let time = max(Self.leastClose, deadline &- self.times.clocks.machine.now())
        if outcome.hasEnded, !isEndOwed { return store.discard(within: time) }
        if case .failed = outcome {} else { self.endProbation() }
        store.close(within: time)
    }

    /// Minimum time for the last write, in nanoseconds.
    private static let leastClose: Int64 = 500_000_000

    // MARK: Replies

    /// Replies to idempotent commands and the revision of the commanded state, as earlier workers saved them.
    var memory: CommandMemory {
        guard let state = self.store?.value else { return CommandMemory() }
        return CommandMemory(revision: state.revision, replies: state.replies) { [salt = state.salt] in
            HashedStreamKey.digest(of: $0, salt: salt, bytes: 12)
        }
    }

    /// Saves the revision and the reply of a command. If `waits` is true, then `answer` is called when the write is done
    /// or its time limit has expired, with whether the command is on disk; otherwise it is called at once.
    func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void
    ) {
        guard let store = self.store else { return answer(.durable) }
        store.update(waits ? .now : .soon) { state in
            state.revision = max(state.revision, record.revision)
            guard let kept = record.reply, !state.replies.contains(where: { $0.key == kept.key }) else { return }
            state.replies.append(kept)
            if state.replies.count > CommandRevisions.keyCapacity { state.replies.removeFirst() }
        }
        store.end(waits: waits, answer)
    }
}

extension CommandRecorder: SceneMemory {
    // Saves the requested scene. A fallback scene may be on air in its place.
    func saveSchedule(_ scenes: ScenesState, _ context: ScenesContext) {
        guard let store = self.store else { return }
        let (schedule, wanted) = (scenes.schedule, scenes.life.wanted.sceneID)
        let file = context.pipeline.program.scene
        store.update(.now) { state in
            let onAir = schedule.onAir.sceneID == wanted
            let showing = CommandedState.Showing(
                scene: wanted, tick: schedule.onAir.tick, ends: onAir ? schedule.onAir.ends : [:])
            if wanted != file || state.onAir != nil { state.setOnAir(showing) }
            state.upcoming = schedule.upcoming.map {
                CommandedState.Showing(scene: $0.sceneID, tick: $0.tick, ends: $0.ends, transition: $0.transition)
            }
            state.countdowns = schedule.countdowns.told
        }
    }

    func saveOverlays(_ overlays: SceneMapping.Overlays) {
        self.store?.update(.soon) { state in
            state.texts = overlays.texts
            state.scores = overlays.scores.mapValues { CommandedState.Score(left: $0.left, right: $0.right) }
        }
    }

    func saveScene(_ sceneID: String, revision: Int, _ body: [UInt8]) {
        self.store?.update(.now) { state in
            let body = JSONParser.parse(body).root?.bare
            state.setScene(sceneID, CommandedState.SceneChange(revision: revision, body: body))
        }
    }

    func saveRemoval(of scene: Scene, isOfFile: Bool) {
        self.store?.update(.now) { state in
            guard isOfFile || state.scenes[scene.sceneID] != nil else { return }
            state.setScene(
                scene.sceneID, CommandedState.SceneChange(revision: scene.revision, isRemoved: true))
        }
    }

    func savePK(_ life: SceneSelector) {
        guard let store = self.store else { return }
        let (phases, scenes, times) = (life.phases, life.commandedScenes, self.times)
        let (since, end) = (times.room(ofMachine: phases.since), phases.endsAt.map { times.room(ofMachine: $0) })
        store.update(.now) { state in
            state.setPK(
                phases.isRunning || life.hasStartedItself || !scenes.isEmpty
                    ? CommandedState.PK(
                        phase: phases.phase, since: since, endsAt: end, durations: phases.durations,
                        hasStartedItself: life.hasStartedItself, scenes: scenes) : nil)
        }
    }
}

extension CommandRecorder: SourceMemory {
    func resumed(_ admission: Admission) -> Admission {
        guard let state = self.store?.value else { return admission }
        var admission = admission
        admission.resume(used: state.usedKeys.map { ($0.digest, $0.expiry) }, salt: state.salt)
        return admission
    }

    func saveUse(_ use: Admission.KeyUse) {
        let now = self.times.clocks.wall.now() / TimeMath.nanoseconds
        self.store?.update(.now) { state in
            state.usedKeys.removeAll { $0.digest == use.digest || $0.expiry < now }
            if let expiry = use.expiry {
                state.usedKeys.append(CommandedState.UsedKey(digest: use.digest, expiry: expiry))
            }
        }
    }

    func saveRefusal(of source: SourceID, until: Int64?) {
        let until = until.map { self.times.room(ofWall: $0) }
        self.store?.update(.now) { $0.change(source) { $0.refusedUntil = until } }
    }

    func saveRecording(of source: SourceID, isOn: Bool?) {
        self.store?.update(.now) { $0.change(source) { $0.recording = isOn } }
    }

    func saveRelay(_ id: String, of source: SourceID, url: String?) {
        self.store?.update(.now) { state in
            state.relays.removeAll { $0.source == source && $0.id == id }
            // Unknown members of the previous relay with this id do not apply to this one.
            state.unknown[CommandedState.path(of: CommandedState.Relay(source: source, id: id, url: ""))] = nil
            if let url { state.relays.append(CommandedState.Relay(source: source, id: id, url: url)) }
        }
    }
}

extension CommandRecorder: OutputMemory {
    func save(_ clip: ClipJobs.Clip) {
        self.store?.update(.soon) { state in
            state.clips.append(
                CommandedState.Clip(id: clip.id, name: clip.name, rendition: clip.rendition, range: clip.range))
        }
    }

    func forgetClip(_ id: String) { self.store?.update(.soon) { $0.clips.removeAll { $0.id == id } } }

    func rewrite() { self.store?.rewrite() }
}
