package import PipelineSpec

/// The state of the room's scenes and sources: a part of the room's state.
package struct ScenesState: Sendable {
    /// The states of the sources, the PK, and the scene that follows from both.
    package var life: SceneSelector
    /// Events that ``life`` has not received yet, in order.
    var inbox: [PendingLifeEvent] = []
    /// All scenes, the scene on air and scheduled scenes. While the room runs, only ``SceneChanges/change(_:)`` changes
    /// them.
    package var schedule: SceneSchedule
    /// The texts and scores that commands have set, which apply to every scene with these elements.
    package var overlays = SceneMapping.Overlays()
    /// Changes of the scene on air that have not been applied yet.
    var work = SceneWork()
    /// Whether the thread that applies ``work`` must end.
    var isThreadOver = false
    /// Number of the last request to put a scene on air. A waiting request without a date-time is carried out only if
    /// it is the newest one.
    var lastRequest: UInt64 = 0

    /// Makes the state at the start of a room from its pipeline.
    package init(_ pipeline: Pipeline) {
        self.life = SceneSelector(pipeline)
        self.schedule = SceneSchedule(pipeline)
    }
}

/// Values of the room that the scene services read.
package struct ScenesContext: Sendable {
    /// The pipeline that the room runs now.
    package var pipeline: Pipeline { self.shared.pipeline }
    private let shared: SharedPipeline
    /// Wall clock time of program time 0, in nanoseconds since the Unix epoch; nil before the program has begun.
    package var origin: Int64?
    /// Whether the program runs and the room is not ending.
    package var isLive: Bool
    /// Whether this worker has published media that viewers can play. In a room without an HLS output: whether the
    /// program has started.
    package var isPlayable: Bool

    /// Makes a context from the values of its members.
    package init(pipeline: SharedPipeline, origin: Int64?, isLive: Bool, isPlayable: Bool) {
        self.shared = pipeline
        self.origin = origin
        self.isLive = isLive
        self.isPlayable = isPlayable
    }
}
