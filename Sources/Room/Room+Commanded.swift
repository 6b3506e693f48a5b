import PublishAuth
package import Control
package import MediaTypes
package import PipelineSpec
import Program
package import RoomScenes

/// Writes down what commands have changed, after it has come into force.
extension Room {
    // MARK: Time

    /// Nanoseconds since the Unix epoch: origin + program time once the program runs, the wall clock before.
    var roomTime: Int64 {
        guard let origin = self.clock.origin, let program = self.clock.now() else { return self.clocks.wall.now() }
        return origin &+ program
    }

    /// The room time of a time of the life's clock.
    func roomTime(ofLife time: Int64) -> Int64 { self.roomTime &+ (time &- self.machine.now()) }

    /// The room time of a time of the wall clock.
    func roomTime(ofWall time: Int64) -> Int64 { self.roomTime &+ (time &- self.clocks.wall.now()) }

    /// The life's time of a room time.
    func lifeTime(ofRoom time: Int64) -> Int64 { self.machine.now() &+ (time &- self.roomTime) }

    // MARK: Scenes

    // The scene that was asked for counts; a fallback scene may be on air in its place.
    package func saveSchedule(_ scenes: ScenesState, _ context: ScenesContext) {
        guard let commands = self.commands else { return }
        let (schedule, wanted) = (scenes.schedule, scenes.life.wanted.sceneID)
        let file = context.pipeline.program.scene
        commands.update(.now) { state in
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

    package func saveOverlays(_ overlays: SceneMapping.Overlays) {
        self.commands?.update(.soon) { state in
            state.texts = overlays.texts
            state.scores = overlays.scores.mapValues { CommandedState.Score(left: $0.left, right: $0.right) }
        }
    }

    package func saveScene(_ sceneID: String, revision: Int, _ body: [UInt8]) {
        self.commands?.update(.now) { state in
            let body = JSONParser.parse(body).root?.bare
            state.setScene(sceneID, CommandedState.SceneChange(revision: revision, body: body))
        }
    }

    package func saveRemoval(of scene: PipelineSpec.Scene) {
        let isOfFile = self.pipeline.scene(scene.sceneID) != nil
        self.commands?.update(.now) { state in
            guard isOfFile || state.scenes[scene.sceneID] != nil else { return }
            state.setScene(
                scene.sceneID, CommandedState.SceneChange(revision: scene.revision, isRemoved: true))
        }
    }

    // MARK: The PK

    package func savePK(_ life: RoomLife) {
        guard let commands = self.commands else { return }
        let (phases, scenes) = (life.phases, life.commandedScenes)
        let (since, end) = (self.roomTime(ofLife: phases.since), phases.endsAt.map { self.roomTime(ofLife: $0) })
        commands.update(.now) { state in
            state.setPK(
                phases.isRunning || life.hasStartedItself || !scenes.isEmpty
                    ? CommandedState.PK(
                        phase: phases.phase, since: since, endsAt: end, durations: phases.durations,
                        hasStartedItself: life.hasStartedItself, scenes: scenes) : nil)
        }
    }

    // MARK: Sources

    func noteCommanded(_ source: SourceID, _ change: SourceChange) {
        let isVolume = change.audioPush == nil && change.videoPush == nil && change.offsetMs == nil
        self.commands?.update(isVolume && change.rotation == nil ? .soon : .now) { state in
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

    /// - Parameter until: On the wall clock; `nil`: the source may be published.
    package func noteRefused(_ source: SourceID, until: Int64?) {
        let until = until.map { self.roomTime(ofWall: $0) }
        self.commands?.update(.now) { $0.change(source) { $0.refusedUntil = until } }
    }

    /// The source has left the room, and what was commanded of it with it.
    func forgetCommanded(_ source: SourceID) { self.commands?.update(.now) { $0.forget(source) } }

    // MARK: The document

    /// The room runs by another version of its document.
    ///
    /// - Parameters:
    ///   - file: The pipeline file, if it is what has changed.
    ///   - before: Scenes that the new version says otherwise come before what commands have made of them.
    func noteDocument(_ document: RoomDocument, _ file: RoomDocument?, after before: RoomDocument) {
        if let file {
            self.value.withLock { $0.documents.file = file }
            self.commands?.setFile(file)
        }
        guard let commands = self.commands, let file = self.value.withLock({ $0.documents.file }) else { return }
        let salt = commands.value.salt
        let edits = document.edits(from: file) { HashedStreamKey.seal($0, salt: salt) }
        let (old, new) = (before.pipeline, document.pipeline)
        let changed = Set(old.scenes.map(\.sceneID) + new.scenes.map(\.sceneID)).filter {
            old.scene($0) != new.scene($0)
        }
        let shelf = self.value.withLock(\.scenes.schedule.shelf)
        commands.update(.now) { state in
            // They leave with a later tick: a successor must not restore what was commanded of them meanwhile.
            for source in old.sources where new.source(source.id) == nil { state.forget(source.id) }
            let isFile = edits.isEmpty && document.revision == file.revision
            state.document = isFile ? nil : CommandedState.Document(revision: document.revision, edits: edits)
            for id in changed {
                // Where commands have counted on, the next revision is above that.
                let revision = shelf[id]?.revision ?? 0
                let isAbove = revision > (new.scene(id)?.revision ?? revision)
                state.scenes[id] = isAbove ? CommandedState.SceneChange(revision: revision) : nil
            }
        }
    }

    /// A document has set members of a source: they come before what commands have said.
    func noteDocument(of source: SourceID, _ change: (inout CommandedState.Source) -> Void) {
        self.commands?.update(.now) { $0.change(source, change) }
    }

    // MARK: Answers

    package var commandMemory: CommandMemory {
        guard let state = self.commands?.value else { return CommandMemory() }
        return CommandMemory(revision: state.revision, replies: state.replies) { [salt = state.salt] in
            HashedStreamKey.digest(of: $0, salt: salt, bytes: 12)
        }
    }

    package func beginCommand() { self.commands?.begin() }

    package func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void
    ) {
        guard let commands = self.commands else { return answer(.durable) }
        commands.update(waits ? .now : .soon) { state in
            state.revision = max(state.revision, record.revision)
            guard let kept = record.reply, !state.replies.contains(where: { $0.key == kept.key }) else { return }
            state.replies.append(kept)
            if state.replies.count > CommandRevisions.keyCapacity { state.replies.removeFirst() }
        }
        commands.end(waits: waits) { durability in
            switch durability {
            case .durable: answer(.durable)
            case .late: answer(.late)
            case .superseded: answer(.superseded)
            }
        }
    }
}
