package import MediaTypes
package import Packager
package import PipelineSpec

/// What the outputs need of the room that they belong to. Any thread may call.
package protocol OutputsHost: AnyObject, Sendable {
    /// What the outputs are made of.
    var outputStages: OutputStages { get }
    /// The pipeline that the room runs now.
    var pipeline: Pipeline { get }
    /// The program runs, and the room is not stopping.
    var isLive: Bool { get }
    /// Viewers could play something of this worker, or of one before it.
    var wasPlayed: Bool { get }
    /// Outputs that no viewer waits for are to skip their frames: the machine cannot keep up.
    var areOutputsPaused: Bool { get }

    /// Locks the room's value while `body` reads or changes the outputs' part of it.
    ///
    /// - Parameter body: Must not call the host, except ``save(_:)``. Must not block.
    func withOutputs<Result: Sendable, Failure: Error>(
        _ body: (inout OutputsState) throws(Failure) -> Result
    ) throws(Failure) -> Result

    /// Saves a promised clip, so that the next worker can report that it is not made.
    func save(_ clip: ClipJobs.Clip)
    /// The clip is ready or has failed: it is no longer saved.
    func forgetSavedClip(_ id: String)
    /// Another worker serves the room: this one stops.
    func tellSuperseded()
    /// The output's directory was moved away and is written again: files of the room in it are missing.
    func outputDirectoryWasRestored()
    /// Measures how long the frames of a new segment took through the room.
    func measureLatency(of segment: PublishedSegment)
    /// Viewers have been told that they can play.
    func becamePlayable()
}

/// The room; nil before it is made, which is after its outputs.
package typealias LateHost = @Sendable () -> (any OutputsHost)?

/// Takes the events of the outputs: the room's stream of events.
package protocol OutputEvents: Sendable {
    /// Emits one event.
    ///
    /// - Parameters:
    ///   - type: Dotted, such as `output.failed`.
    ///   - members: The members of this type, after the common ones.
    func emit(_ type: String, _ members: KeyValuePairs<String, JSONValue>)
}
