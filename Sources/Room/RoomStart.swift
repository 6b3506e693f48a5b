import MediaTypes
import PipelineSpec
import RoomScenes

/// Scenes, overlays and life of a room before its first tick: as its document says, and as commands to the workers before it have
/// changed it.
struct RoomStart: Sendable {
    var desk: SceneSchedule
    var life: RoomLife
    /// The scene that is on air first; `nil`: the pipeline has none.
    var scene: PipelineSpec.Scene?
    /// What texts and score bars say by command.
    var commanded = SceneMapping.Overlays()
    /// What the overlays of ``scene`` say.
    var overlays: SceneMapping.Overlays

    /// - Parameter resumption: Learns what cannot be restored.
    init(_ pipeline: Pipeline, _ resumption: inout Resumption) {
        self.desk = SceneSchedule(pipeline)
        self.life = RoomLife(pipeline)
        self.overlays = SceneMapping.Overlays()
        self.restoreScenes(pipeline, &resumption)
        let state = resumption.state
        self.commanded.texts = state.texts
        for (id, score) in state.scores { self.commanded.scores[id] = (score.left, score.right) }
        for (id, tick) in state.countdowns { self.desk.countdowns.tell(id, tick) }
        if let onAir = state.onAir { self.restore(onAir, &resumption) }
        self.desk.onAir.without = self.life.onAir.without
        self.scene = self.desk.shelf[self.desk.onAir.sceneID] ?? pipeline.scenes.first
        if let scene = self.scene, !state.isPlain {
            self.overlays = self.desk.overlays(of: self.desk.onAir, scene, self.commanded, phaseEnd: nil)
        }
    }

    private mutating func restoreScenes(_ pipeline: Pipeline, _ resumption: inout Resumption) {
        for (id, change) in resumption.state.scenes.sorted(by: { $0.key < $1.key }) {
            if change.isRemoved {
                self.desk.shelf.remove(id, revision: change.revision)
                self.life.remove(id)
            } else if let body = change.body {
                let report = Scene.parse(
                    Array(body.text().utf8), sceneID: id, in: pipeline,
                    checks: RoomChecks.here(wall: resumption.settings.clocks.wall))
                guard var scene = report.scene else {
                    resumption.state.scenes[id] = nil
                    let mistake = report.mistakes.first.map { "\($0.path): \($0.what)" }
                    resumption.refused.append(
                        Resumption.Refusal(member: "scenes[\(id)]", reason: mistake ?? "it is no scene"))
                    continue
                }
                scene.revision = change.revision
                self.desk.shelf.put(scene)
                self.life.replace(RoomLife.Scene(scene, in: pipeline))
            } else if var scene = self.desk.shelf[id] {
                scene.revision = max(scene.revision, change.revision)
                self.desk.shelf.put(scene)
            }
        }
    }

    private mutating func restore(_ onAir: CommandedState.Showing, _ resumption: inout Resumption) {
        guard self.desk.shelf[onAir.scene] != nil, self.life.resume(onAir.scene) else {
            resumption.state.onAir = nil
            resumption.refused.append(
                Resumption.Refusal(
                    member: CommandedState.onAirMember.name, reason: "there is no scene \"\(onAir.scene)\" any more"))
            return
        }
        self.desk.onAir = SceneSchedule.Showing(sceneID: onAir.scene, tick: onAir.tick, ends: onAir.ends)
        self.desk.isResumed = true
    }
}
