package import MediaTypes
package import PipelineSpec

/// The state of the room's scenes and of its sources' lives, as one value; a part of the room's value.
package struct ScenesState: Sendable {
    /// The states of the sources, the PK, and what is to be on air because of both.
    package var life: RoomLife
    /// Events that ``life`` has not received yet, in order.
    var inbox: [PendingLifeEvent] = []
    /// The scenes there are, and what is on air. Changed only by ``SceneChanges/change(_:)`` once the room runs.
    package var schedule: SceneSchedule
    /// What texts and score bars say by command, in every scene that has them.
    package var overlays = SceneMapping.Overlays()
    /// Changes of the scene on air that are due.
    var work = SceneWork()
    /// Whether the thread that applies ``work`` ends.
    var isThreadOver = false
    /// The number of the last request that puts a scene on air at once: of several that wait, the newest counts.
    var lastRequest: UInt64 = 0

    /// The state of a room that starts as its pipeline says.
    package init(_ pipeline: Pipeline) {
        self.life = RoomLife(pipeline)
        self.schedule = SceneSchedule(pipeline)
    }
}

/// What the scenes read of the rest of the room's value.
package struct ScenesContext: Sendable {
    /// What the room runs by now.
    package var pipeline: Pipeline
    /// Nanoseconds since the Unix epoch at program time zero; `nil` before the program has begun.
    package var origin: Int64?
    /// Whether somebody has published and the room is not about to end.
    package var isLive: Bool
    /// Whether viewers can have something of this worker.
    package var isPlayable: Bool

    /// See the members.
    package init(pipeline: Pipeline, origin: Int64?, isLive: Bool, isPlayable: Bool) {
        self.pipeline = pipeline
        self.origin = origin
        self.isLive = isLive
        self.isPlayable = isPlayable
    }
}
