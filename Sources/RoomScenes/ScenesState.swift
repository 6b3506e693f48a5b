package import PipelineSpec

/// The state of the room's scenes and sources, as one value; a part of the room's value.
package struct ScenesState: Sendable {
    /// The states of the sources, the PK, and the scene that results from both.
    package var life: SceneSelector
    /// Events that ``life`` has not received yet, in order.
    var inbox: [PendingLifeEvent] = []
    /// All scenes, and the scene on air. Once the room runs, only ``SceneChanges/change(_:)`` changes it.
    package var schedule: SceneSchedule
    /// The texts and scores that commands have set, for every scene that has them.
    package var overlays = SceneMapping.Overlays()
    /// Changes of the scene on air that are due.
    var work = SceneWork()
    /// Whether the thread that applies ``work`` must end.
    var isThreadOver = false
    /// The number of the last request that puts a scene on air at once: if several wait, then only the newest is
    /// carried out.
    var lastRequest: UInt64 = 0

    /// The state of a room that starts with its pipeline.
    package init(_ pipeline: Pipeline) {
        self.life = SceneSelector(pipeline)
        self.schedule = SceneSchedule(pipeline)
    }
}

/// Values of the room that its scenes read.
package struct ScenesContext: Sendable {
    /// The pipeline that the room runs now.
    package var pipeline: Pipeline
    /// Nanoseconds since the Unix epoch at program time zero; `nil` before the program has begun.
    package var origin: Int64?
    /// Whether somebody has published and the room is not about to end.
    package var isLive: Bool
    /// Whether this worker has published media that viewers can play.
    package var isPlayable: Bool

    /// See the members.
    package init(pipeline: Pipeline, origin: Int64?, isLive: Bool, isPlayable: Bool) {
        self.pipeline = pipeline
        self.origin = origin
        self.isLive = isLive
        self.isPlayable = isPlayable
    }
}
