package import Control
package import MediaTypes
package import PipelineSpec
package import Program
package import RoomScenes

/// The interface that the scene services use to reach the room.
extension Room: ScenesHost {
    /// Applies changes of scenes to the room.
    var scenes: SceneChanges { SceneChanges(self, self.sceneParts) }
    var sceneCommands: SceneCommands { SceneCommands(self.scenes) }
    package var sceneControl: any SceneControlling { self.sceneCommands }

    package func withScenes<Result: Sendable, Failure: Error>(
        _ body: (inout ScenesState, ScenesContext) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.value.withLock { value throws(Failure) in
            let context = ScenesContext(
                pipeline: value.api.documents.shared, origin: value.lifecycle.origin,
                isLive: value.lifecycle.state == .live,
                isPlayable: value.lifecycle.isPlayable(hasPackager: self.packager != nil))
            return try body(&value.scenes, context)
        }
    }

    package var marks: any SceneMarks {
        ProgramMarks(
            packager: self.packager, metadata: self.metadata, program: self.program, times: self.sceneParts.times)
    }

    package var sourceBuffers: [SourceID: SourceBuffer] { self.roomSources.mapValues(\.buffer) }

    package func readScene(_ body: [UInt8], sceneID: String) throws(ControlFailure) -> SceneReport {
        let grants = self.grants()
        if let tree = Pipeline.document(body) { try Self.check(tree, grants) }
        return Scene.parse(
            body, sceneID: sceneID, in: self.pipeline, checks: RoomChecks.forRequests(grants, wall: self.clocks.wall))
    }

    // MARK: Commands

    /// Puts a scene on air at the next tick, as a command does.
    package func setProgram(sceneID: String) throws(ControlFailure) {
        try self.sceneCommands.setProgram(sceneID: sceneID)
    }

    /// Runs a job on the thread that builds filter graphs, before all waiting jobs. Only for tests.
    package func onBuilder(_ job: @escaping @Sendable () -> Void) { self.program.onBuilder(job) }
}
