import Control
import MediaTypes
import PipelineSpec

/// Automatic scenes follow who is live.
extension Room {
    /// The users whose main streams are live, in file order; nobody at all is no reason to change the picture.
    func liveUsers(fallback: [String]?) -> [String]? {
        let live = self.pipeline.sources.filter { source in
            source.id.streamType == .main && self.slots[source.id]?.buffer.status.status == .live
        }.map(\.id.uid)
        return live.isEmpty ? fallback : live
    }

    /// Lays the automatic scene on air out anew when others are live than it was made for.
    func layOutAnew() {
        let failure = self.desk.withLock { desk -> ControlFailure? in
            desk.advance(to: self.program.tick)
            guard let scene = desk.shelf[desk.onAir.sceneID], scene.isAutomatic,
                let live = self.liveUsers(fallback: desk.live), live != desk.live
            else { return nil }
            do throws(ControlFailure) {
                let tick = try self.compose(scene, desk.onAir, at: nil, &desk, isUpdate: scene.transition.kind == .cut)
                self.events.emit(
                    "scene.layout",
                    [
                        "scene": .string(scene.sceneID), "live": .array(live.map { .string($0) }),
                        "tick": .integer(tick),
                    ])
                return nil
            } catch {
                return error
            }
        }
        if let failure {
            self.logger.warning("the automatic scene keeps its layout", metadata: ["error": "\(failure.what)"])
        }
    }
}
