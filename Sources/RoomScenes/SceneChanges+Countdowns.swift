import Control
import PipelineSpec

/// Starts and redraws countdowns when the program or a phase of the PK begins.
extension SceneChanges {
    /// Starts the countdowns of the first scene when the program begins.
    package func startCountdowns(at tick: Int64) {
        self.change { schedule in
            guard schedule.onAir.tick == 0, !schedule.isResumed,
                let scene = schedule.sceneStore[schedule.onAir.sceneID],
                !scene.countdowns.isEmpty
            else { return }
            schedule.onAir.tick = tick
            SceneSchedule.begin(&schedule.onAir, scene, fps: self.times.fps)
            self.redraw(scene, schedule.onAir, at: nil, &schedule)
        }
    }

    /// Redraws the countdowns of the PK when a phase has begun, in the scene on air and in scheduled scenes.
    ///
    /// - Parameter isShown: Whether the scene on air has just been composed with the new end of the countdown.
    package func redrawCountdowns(isShown: Bool, _ schedule: inout SceneSchedule) {
        var showings: [(SceneSchedule.Showing, Int64?)] = schedule.upcoming.map { ($0, $0.tick) }
        if !isShown { showings.insert((schedule.onAir, nil), at: 0) }
        for (showing, tick) in showings {
            guard let scene = schedule.sceneStore[showing.sceneID],
                scene.countdowns.contains(where: { $0.clock == .pk })
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
            self.parts.logger.warning("the countdowns could not be redrawn", metadata: ["error": "\(error.what)"])
        }
    }
}
