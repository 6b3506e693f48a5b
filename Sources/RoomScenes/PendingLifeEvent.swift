/// An event of a source that ``SceneSelector`` has not received yet.
///
/// Any thread adds events to ``ScenesState/inbox`` and continues; the life's thread passes them on in order.
struct PendingLifeEvent: Sendable {
    var event: SceneSelector.Event
    /// When it happened, in nanoseconds of ``ProgramTimes/lifeTime``.
    var time: Int64
    /// The life's thread calls it right before it passes the event to ``SceneSelector``, while it holds the room's value. Events that it
    /// emits therefore come before those that follow from this event, and after those of earlier entries. It must not block and must
    /// not use the room.
    var announce: (@Sendable () -> Void)?
}
