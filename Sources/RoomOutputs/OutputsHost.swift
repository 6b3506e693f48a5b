package import MediaTypes
package import Packager
package import PipelineSpec

/// The interface of the room that its outputs use. Any thread may call it.
package protocol OutputsHost: AnyObject, Sendable {
    /// The stages of the outputs.
    var outputStages: OutputStages { get }
    /// The pipeline that the room runs now.
    var pipeline: Pipeline { get }
    /// Whether the program runs and the room is not stopping.
    var isLive: Bool { get }
    /// Whether this worker or an earlier one has published media that viewers could play.
    var wasPlayed: Bool { get }
    /// Whether outputs that no viewer waits for must skip their frames, because the machine cannot keep up.
    var areOutputsPaused: Bool { get }

    /// Locks the room's value while `body` reads or changes the outputs' part of it.
    ///
    /// - Parameter body: Must not call the host. Must not block.
    func withOutputs<Result: Sendable, Failure: Error>(
        _ body: (inout OutputsState) throws(Failure) -> Result
    ) throws(Failure) -> Result

    /// Reports that another worker serves the room, so that this one stops.
    func tellSuperseded()
    /// Measures how long the frames of a new segment took through the room.
    func measureLatency(of segment: PublishedSegment)
    /// Called after the event that viewers can play was emitted.
    func becamePlayable()
}

/// Saves changes of outputs for the next worker. Takes no lock of the room.
package protocol OutputMemory: Sendable {
    /// Saves a promised clip, so that the next worker can report that it is not made.
    func save(_ clip: ClipJobs.Clip)
    /// Removes a saved clip that is ready or has failed.
    func forgetClip(_ id: String)
    /// Saves everything again: the output's directory was moved away, and files of the room in it are missing.
    func rewrite()
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
