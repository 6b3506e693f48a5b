/// Restores the state of an earlier worker.
extension SceneSelector {
    /// Restores the requested scene, before the first publisher is admitted.
    ///
    /// - Returns: False if the room has no such scene.
    package mutating func resume(_ sceneID: String) -> Bool {
        guard let scene = self.scene(sceneID) else { return false }
        self.setFirst(scene)
        return true
    }

    /// Restores the PK. Its scene is restored by ``resume(_:)``; phases that have ended meanwhile end with the next poll.
    ///
    /// - Parameters:
    ///   - since: When the phase began. This and `endsAt` are on the clock of this value.
    ///   - hasStartedItself: Whether the PK has started without a command already; then it does not do so again.
    ///   - scenes: The scenes that its command has named. The pipeline's scene is used instead of one that was removed.
    /// - Returns: False if the PK runs, and neither its command nor the pipeline names a scene for it.
    package mutating func resumePK(
        _ phase: PKStateMachine.Phase, since: Int64, endsAt: Int64?, durations: PKStateMachine.Durations,
        hasStartedItself: Bool,
        scenes: PK.Scenes = PK.Scenes()
    ) -> Bool {
        let isOver = phase == .idle && self.pk != nil
        var scenes = isOver ? PK.Scenes() : scenes.filter { self.scene($0) != nil }
        if self.pk == nil, scenes.scene == nil { scenes = PK.Scenes() }
        let plan = PK(self.pk, scenes)
        guard plan != nil || phase == .idle else { return false }
        self.restorePK(plan, scenes, hasStartedItself: hasStartedItself) {
            $0.resume(phase, since: since, endsAt: endsAt, durations: durations)
        }
        return true
    }
}
