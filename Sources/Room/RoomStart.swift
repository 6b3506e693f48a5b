import PipelineSpec
import Program
import RoomScenes

/// The scenes, overlays and life of a room before its first tick: as in its document, with the changes that commands to
/// earlier workers made.
struct RoomStart: Sendable {
    var scenes: ScenesState
    /// The scene that is on air at the first tick; nil if the pipeline has no scenes.
    var first: Program.Scene?

    /// - Parameter resumption: The restored state. Members that cannot be restored are moved to its refusals.
    init(_ pipeline: Pipeline, _ resumption: inout Resumption) {
        self.scenes = ScenesState(pipeline)
        self.restoreScenes(pipeline, &resumption)
        let state = resumption.state
        self.scenes.overlays.texts = state.texts
        for (id, score) in state.scores { self.scenes.overlays.scores[id] = (score.left, score.right) }
        for (id, tick) in state.countdowns { self.scenes.schedule.countdowns.tell(id, tick) }
        if let onAir = state.onAir { self.restore(onAir, &resumption) }
        self.scenes.schedule.onAir.without = self.scenes.life.planned.without
        let schedule = self.scenes.schedule
        guard let scene = schedule.sceneStore[schedule.onAir.sceneID] ?? pipeline.scenes.first else { return }
        self.first = SceneMapping.scene(
            scene, in: pipeline, without: schedule.onAir.without,
            overlays: state.isPlain
                ? SceneMapping.Overlays()
                : schedule.overlays(of: schedule.onAir, scene, self.scenes.overlays, phaseEnd: nil))
    }

    private mutating func restoreScenes(_ pipeline: Pipeline, _ resumption: inout Resumption) {
        for (id, change) in resumption.state.scenes.sorted(by: { $0.key < $1.key }) {
            if change.isRemoved {
                self.scenes.schedule.sceneStore.remove(id, revision: change.revision)
                self.scenes.life.remove(id)
            } else if let body = change.body {
                let report = Scene.parse(
                    Array(body.text().utf8), sceneID: id, in: pipeline,
                    checks: RoomChecks.here(wall: resumption.settings.clocks.wall))
                guard var scene = report.scene else {
                    resumption.state.scenes[id] = nil
                    let mistake = report.mistakes.first.map { "\($0.path): \($0.what)" }
                    resumption.refused.append(
                        Resumption.Refusal(member: "scenes[\(id)]", reason: mistake ?? "it is not a scene"))
                    continue
                }
                scene.revision = change.revision
                self.scenes.schedule.sceneStore.put(scene)
                self.scenes.life.replace(scene)
            } else if var scene = self.scenes.schedule.sceneStore[id] {
                scene.revision = max(scene.revision, change.revision)
                self.scenes.schedule.sceneStore.put(scene)
            }
        }
    }

    private mutating func restore(_ onAir: CommandedState.Showing, _ resumption: inout Resumption) {
        guard self.scenes.schedule.sceneStore[onAir.scene] != nil, self.scenes.life.resume(onAir.scene) else {
            resumption.state.onAir = nil
            resumption.refused.append(
                Resumption.Refusal(
                    member: CommandedState.onAirMember.name, reason: "there is no scene \"\(onAir.scene)\" any more"))
            return
        }
        self.scenes.schedule.onAir = SceneSchedule.Showing(sceneID: onAir.scene, tick: onAir.tick, ends: onAir.ends)
        self.scenes.schedule.isResumed = true
    }
}
