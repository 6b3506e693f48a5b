import MediaTypes

/// A room that goes on under another worker.
extension RoomLife {
    /// Restores which scene was asked for. Nobody publishes yet.
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
    ///   - since: As `endsAt` on the clock of this value.
    ///   - hasStartedItself: A PK that starts when its sources are there does not start again.
    /// - Returns: False for a room without a PK.
    package mutating func resumePK(
        _ phase: PKLife.Phase, since: Int64, endsAt: Int64?, durations: PKLife.Durations, hasStartedItself: Bool
    ) -> Bool {
        guard self.pk != nil else { return false }
        self.setPK(hasStartedItself: hasStartedItself) {
            $0.resume(phase, since: since, endsAt: endsAt, durations: durations)
        }
        return true
    }
}
