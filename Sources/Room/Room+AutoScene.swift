import Control
import MediaTypes
import PipelineSpec
import RoomSources

/// Automatic scenes follow who is live.
extension Room {
    /// The users whose main streams are live, in file order; nobody at all is no reason to change the picture.
    func liveUsers(fallback: [String]?) -> [String]? {
        let slots = self.slots
        let live = self.pipeline.sources.filter { source in
            source.id.streamType == .main && slots[source.id].map { self.isLive($0) } ?? false
        }.map(\.id.uid)
        return live.isEmpty ? fallback : live
    }

    /// Offline a file is live until the program has shown it to its end, however far it has been read: so the same job makes the
    /// same pictures.
    private func isLive(_ slot: RoomSource) -> Bool {
        let buffer = slot.buffer
        guard buffer.isPaced else { return buffer.status.status == .live }
        let rate = Int64(self.pipeline.audio.sampleRate)
        guard let end = buffer.endTime(interval: self.time(of: 1), sampleRate: rate) else {
            return buffer.status.status != .idle
        }
        return end > self.time(of: self.program.tick + 1)
    }

    /// Lays the automatic scene on air out anew when others are live than it was made for.
    func layOutAnew(_ desk: inout SceneDesk) {
        guard let scene = desk.shelf[desk.onAir.sceneID], scene.isAutomatic,
            let live = self.liveUsers(fallback: desk.live), live != desk.live
        else { return }
        do throws(ControlFailure) {
            let tick = try self.compose(scene, desk.onAir, at: nil, &desk, isUpdate: scene.transition.kind == .cut)
            self.events.emit(
                "scene.layout",
                [
                    "scene": .string(scene.sceneID), "live": .array(live.map { .string($0) }),
                    "tick": .integer(tick),
                ])
        } catch {
            self.logger.warning("the automatic scene keeps its layout", metadata: ["error": "\(error.what)"])
        }
    }
}
