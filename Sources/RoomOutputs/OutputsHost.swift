package import MediaTypes
package import Packager
package import PipelineSpec

/// The interface that outputs use to reach the room. Any thread may call it.
package protocol OutputsHost: AnyObject, Sendable {
    /// The stages of the outputs.
    var outputStages: OutputStages { get }
    /// The pipeline that the room runs now.
    var pipeline: Pipeline { get }
    /// Whether the program runs and the room is not stopping.
    var isLive: Bool { get }
    /// Whether this worker or an earlier one has published media that viewers could play.
    var wasPlayed: Bool { get }
    /// Whether raw outputs, stills and thumbnail sheets must skip their frames, because the machine cannot keep up.
    var areOutputsPaused: Bool { get }

    /// Locks the room's state while `body` reads or changes the outputs' part of it.
    ///
    /// - Parameter body: Must not call the host, and must not block.
    func withOutputs<Result: Sendable, Failure: Error>(
        _ body: (inout OutputsState) throws(Failure) -> Result
    ) throws(Failure) -> Result

    /// Reports that another worker has claimed the room, so that this worker stops.
    func tellSuperseded()
    /// Measures how long the frames of a published segment took through the room.
    func measureLatency(of segment: PublishedSegment)
    /// Stops the recordings of sources from writing, because the disk is nearly full; nil continues them.
    func suspendSourceRecordings(because error: MediaError?)
    /// Called after `broadcast.active` was emitted: viewers can play the room.
    func becamePlayable()
}

/// Saves changes of outputs for the room's next worker. Takes no lock of the room.
package protocol OutputMemory: Sendable {
    /// Saves a requested clip, so that the next worker can report if it was not made.
    func save(_ clip: ClipJobs.Clip)
    /// Removes the saved entry of a clip that is ready or has failed.
    func forgetClip(_ id: String)
    /// Saves everything again because the output's directory was replaced, so that the room's files in it are missing.
    func rewrite()
}

/// Returns the room; nil until it is made, which happens after its outputs are opened.
package typealias LateHost = @Sendable () -> (any OutputsHost)?

/// Emits events of the outputs in the room's stream of events.
package protocol OutputEvents: Sendable {
    /// Emits one event.
    ///
    /// - Parameters:
    ///   - type: Type of the event, such as `output.failed`.
    ///   - members: Members of this type; they follow the common members.
    func emit(_ type: String, _ members: KeyValuePairs<String, JSONValue>)
}
