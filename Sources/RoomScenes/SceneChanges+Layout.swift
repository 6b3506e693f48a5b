import Control
import Program

/// Lays out automatic scenes, which show the users whose sources are live.
extension SceneChanges {
    /// The users whose main sources are live, without background sources, in the order of the pipeline.
    ///
    /// - Parameter fallback: Returned if no user is live, so that the layout does not change.
    func liveUsers(fallback: [String]?) -> [String]? {
        let (buffers, pipeline) = (self.host.sourceBuffers, self.host.withScenes { $1.pipeline })
        let live = pipeline.sources.filter { source in
            source.id.streamType == .main && !source.background
                && buffers[source.id].map { self.isLive($0, sampleRate: pipeline.audio.sampleRate) } ?? false
        }.map(\.id.uid)
        return live.isEmpty ? fallback : live
    }

    /// Whether a source counts as live. Offline, a file is live until the program has shown it to its end, however far
    /// it has been read, so that the same job gives the same frames.
    private func isLive(_ buffer: SourceBuffer, sampleRate: Int) -> Bool {
        guard buffer.isPaced else { return buffer.status.status == .live }
        guard let end = buffer.endTime(interval: self.times.time(of: 1), sampleRate: Int64(sampleRate)) else {
            return buffer.status.status != .idle
        }
        return end > self.times.time(of: self.program.tick + 1)
    }

    /// Lays out the scene on air again if it is automatic and the set of live users has changed.
    func layOutAnew(_ schedule: inout SceneSchedule) {
        guard let scene = schedule.sceneStore[schedule.onAir.sceneID], scene.isAutomatic,
            let live = self.liveUsers(fallback: schedule.live), live != schedule.live
        else { return }
        do throws(ControlFailure) {
            let tick = try self.compose(
                scene, schedule.onAir, at: nil, &schedule, isUpdate: scene.transition.kind == .cut)
            self.emit(
                "scene.layout",
                [
                    "scene": .string(scene.sceneID), "live": .array(live.map { .string($0) }),
                    "tick": .integer(tick),
                ])
        } catch {
            self.parts.logger.warning(
                "the automatic scene could not be laid out again", metadata: ["error": "\(error.what)"])
        }
    }
}
