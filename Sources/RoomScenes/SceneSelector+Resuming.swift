/// Restores the state of an earlier worker.
extension SceneSelector {
    /// Restores the scene that was requested last, before publishers are admitted.
    ///
    /// - Returns: False if the room has no scene with this id; nothing has changed then.
    package mutating func resume(_ sceneID: String) -> Bool {
        guard let scene = self.scene(sceneID) else { return false }
        self.setFirst(scene)
        return true
    }

    /// Restores the PK, but not the scene on air; see ``resume(_:)``. Phases that have ended in the meantime end with
    /// the next poll.
    ///
    /// - Parameters:
    ///   - since: When the phase began. `since` and `endsAt` are times on the clock of ``SceneSelector``.
    ///   - hasStartedItself: Whether the PK has already started automatically; then it does not do so again.
    ///   - scenes: The scenes named by the command that started the PK. Scenes that no longer exist are replaced by
    ///     those of the pipeline.
    /// - Returns: False if the PK was running, but neither the command nor the pipeline names a scene for it.
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
