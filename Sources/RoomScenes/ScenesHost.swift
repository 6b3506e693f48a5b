package import Control
package import MediaTypes
package import PipelineSpec
package import Program
package import RoomSources

/// The interface that the scene services use to reach the room.
package protocol ScenesHost: AnyObject, Sendable {
    /// Calls `body` while the room's state is locked.
    ///
    /// - Parameter body: Must not build a filter graph or read a file, and must not call this function.
    func withScenes<Result: Sendable, Failure: Error>(
        _ body: (inout ScenesState, ScenesContext) throws(Failure) -> Result
    ) throws(Failure) -> Result

    /// The buffer of each source of the room.
    var sourceBuffers: [SourceID: SourceBuffer] { get }

    /// Checks that the room accepts commands.
    ///
    /// - Throws: 410 if the room has ended or is ending, or if this worker hands it over; 503 if a newer worker serves it.
    func checkOpen() throws(ControlFailure)

    /// Parses and checks the JSON document of a scene in a request.
    ///
    /// - Returns: The scene, or the mistakes in the document.
    /// - Throws: 403 if the document uses something that requests may not use, such as files.
    func readScene(_ body: [UInt8], sceneID: String) throws(ControlFailure) -> SceneReport

    /// Emits the event for a source's new state. The caller has locked the room's state.
    ///
    /// - Parameter life: The source after the change; nil if it has left the room.
    func sourceChanged(
        _ id: SourceID, _ change: SourceStateMachine.Change, _ life: SourceStateMachine?, _ context: ScenesContext)

    /// Describes scenes and PK phases to viewers.
    var marks: any SceneMarks { get }
}

/// Describes scenes and PK phases to viewers, as date ranges in the playlists.
package protocol SceneMarks {
    /// Adds a date range for a scene that goes on air at a tick.
    ///
    /// - Parameter left: Sources whose panes are hidden.
    func mark(_ scene: Program.Scene, without left: Set<SourceID>, at tick: Int64, isScheduled: Bool)

    /// Adds date ranges for phases of a PK that have begun.
    ///
    /// - Parameters:
    ///   - scene: The scene of the PK; nil if there is no PK.
    ///   - shownAt: The first tick of the phase's scene; nil if the scene on air does not change.
    func mark(_ phases: [PKStateMachine.Change], of scene: PipelineSpec.Scene?, shownAt: Int64?)
}

/// Saves changes of scenes for the next worker. Takes no lock of the room.
package protocol SceneMemory: Sendable {
    /// Saves the scene requested last, which a fallback scene may replace on air, the scheduled scenes and the ends of
    /// countdowns. The caller has locked the room's state.
    func saveSchedule(_ scenes: ScenesState, _ context: ScenesContext)

    /// Saves the texts and scores that commands have set.
    func saveOverlays(_ overlays: SceneMapping.Overlays)

    /// Saves a scene that a command has added or changed.
    func saveScene(_ sceneID: String, revision: Int, _ body: [UInt8])

    /// Saves that a command has removed a scene.
    ///
    /// - Parameter isOfFile: Whether the pipeline contains a scene with this id.
    func saveRemoval(of scene: PipelineSpec.Scene, isOfFile: Bool)

    /// Saves the phase of the PK. The caller has locked the room's state.
    func savePK(_ life: SceneSelector)
}
