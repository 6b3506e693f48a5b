package import Control
package import MediaTypes
package import PipelineSpec
package import Program
package import RoomSources

/// What the scenes need of the room they belong to.
package protocol ScenesHost: AnyObject, Sendable {
    /// Locks the room's value.
    ///
    /// - Parameter body: Must not build a graph or read a file, and must not call this function again.
    func withScenes<Result: Sendable, Failure: Error>(
        _ body: (inout ScenesState, ScenesContext) throws(Failure) -> Result
    ) throws(Failure) -> Result

    /// What the program reads of each source.
    var sourceBuffers: [SourceID: SourceBuffer] { get }

    /// - Throws: 410 if the room is over or about to be, 503 if a newer worker serves it.
    func checkOpen() throws(ControlFailure)

    /// Reads and checks the document of a scene that a request sends.
    ///
    /// - Throws: 403 for a document that names what a request may not name.
    func readScene(_ body: [UInt8], sceneID: String) throws(ControlFailure) -> SceneReport

    /// A source has another state: emits its event. The caller holds the room's value.
    ///
    /// - Parameter life: The source after the change; `nil`: it has left the room.
    func sourceChanged(_ id: SourceID, _ change: SourceLife.Change, _ life: SourceLife?, _ context: ScenesContext)

    /// A scene comes on air at a tick: viewers get a date range.
    ///
    /// - Parameter left: Sources whose panes have left it.
    func mark(_ scene: Program.Scene, without left: Set<SourceID>, at tick: Int64, isScheduled: Bool)

    /// Phases of a PK have begun: viewers get date ranges.
    ///
    /// - Parameters:
    ///   - scene: The PK's scene; `nil`: there is no PK.
    ///   - shownAt: The first tick of the scene that goes with it; `nil`: the scene on air does not change.
    func mark(_ phases: [PKLife.Change], of scene: PipelineSpec.Scene?, shownAt: Int64?)

    // MARK: What a successor restores

    /// Saves what is on air, what is scheduled, and what countdowns say. The caller holds the room's value.
    func saveSchedule(_ scenes: ScenesState, _ context: ScenesContext)

    /// Saves what texts and score bars say.
    func saveOverlays(_ overlays: SceneMapping.Overlays)

    /// Saves a scene that a command has put.
    func saveScene(_ sceneID: String, revision: Int, _ body: [UInt8])

    /// Saves that a command has removed a scene.
    func saveRemoval(of scene: PipelineSpec.Scene)

    /// Saves the phase of the PK. The caller holds the room's value.
    func savePK(_ life: RoomLife)
}
