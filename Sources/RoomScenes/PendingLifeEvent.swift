/// An event of a source that ``SceneSelector`` has not received yet.
///
/// Any thread adds events to ``ScenesState/inbox`` without waiting. The life thread passes them on in order.
struct PendingLifeEvent: Sendable {
    var event: SceneSelector.Event
    /// When the event occurred, in nanoseconds of ``ProgramTimes/lifeTime``.
    var time: Int64
    /// Called by the life thread right before it passes the event to ``SceneSelector``, while the room's state is locked.
    /// The events that it emits therefore precede those that follow from this event, and follow those of earlier
    /// entries. It must not block, and must not use the room.
    var announce: (@Sendable () -> Void)?
}
