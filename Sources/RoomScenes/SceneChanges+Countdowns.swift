import Control
import PipelineSpec

/// Countdowns that begin with the program or with a phase of the PK.
extension SceneChanges {
    /// The countdowns of the first scene begin with the program.
    package func startCountdowns(at tick: Int64) {
        self.change { schedule in
            guard schedule.onAir.tick == 0, !schedule.isResumed, let scene = schedule.shelf[schedule.onAir.sceneID],
                !scene.countdowns.isEmpty
            else { return }
            schedule.onAir.tick = tick
            SceneSchedule.begin(&schedule.onAir, scene, fps: self.times.fps)
            self.redraw(scene, schedule.onAir, at: nil, &schedule)
        }
    }

    /// Shows the end of a phase of the PK that has begun, in the scene on air and in those that are scheduled.
    ///
    /// - Parameter isShown: The scene on air has just been composed, with that end.
    package func redrawCountdowns(isShown: Bool, _ schedule: inout SceneSchedule) {
        var showings: [(SceneSchedule.Showing, Int64?)] = schedule.upcoming.map { ($0, $0.tick) }
        if !isShown { showings.insert((schedule.onAir, nil), at: 0) }
        for (showing, tick) in showings {
            guard let scene = schedule.shelf[showing.sceneID], scene.countdowns.contains(where: { $0.clock == .pk })
            else { continue }
            self.redraw(scene, showing, at: tick, &schedule)
        }
    }

    private func redraw(
        _ scene: PipelineSpec.Scene, _ showing: SceneSchedule.Showing, at tick: Int64?,
        _ schedule: inout SceneSchedule
    ) {
        do throws(ControlFailure) {
            _ = try self.compose(scene, showing, at: tick, &schedule, isUpdate: tick == nil)
        } catch {
            self.parts.logger.warning("the countdowns stand still", metadata: ["error": "\(error.what)"])
        }
    }
}
