import Control
import Program

/// Automatic scenes show the users who are live.
extension SceneChanges {
    /// The users whose main streams are live, in file order.
    ///
    /// - fallback: Returned if no user is live, so that the layout stays.
    func liveUsers(fallback: [String]?) -> [String]? {
        let (buffers, pipeline) = (self.host.sourceBuffers, self.host.withScenes { $1.pipeline })
        let live = pipeline.sources.filter { source in
            source.id.streamType == .main
                && buffers[source.id].map { self.isLive($0, sampleRate: pipeline.audio.sampleRate) } ?? false
        }.map(\.id.uid)
        return live.isEmpty ? fallback : live
    }

    /// Offline a file is live until the program has shown it to its end, however far it has been read, so that the same job produces
    /// the same frames.
    private func isLive(_ buffer: SourceBuffer, sampleRate: Int) -> Bool {
        guard buffer.isPaced else { return buffer.status.status == .live }
        guard let end = buffer.endTime(interval: self.times.time(of: 1), sampleRate: Int64(sampleRate)) else {
            return buffer.status.status != .idle
        }
        return end > self.times.time(of: self.program.tick + 1)
    }

    /// Lays out the automatic scene on air again if other users are live than it was laid out for.
    func layOutAnew(_ schedule: inout SceneSchedule) {
        guard let scene = schedule.shelf[schedule.onAir.sceneID], scene.isAutomatic,
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
                "the automatic scene keeps its layout", metadata: ["error": "\(error.what)"])
        }
    }
}
