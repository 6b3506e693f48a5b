/// Something that has happened to a source, on its way to ``RoomLife``.
///
/// Any thread adds one to ``RoomState/inbox`` and goes on; the life's thread tells them in order.
struct Happening: Sendable {
    var event: RoomLife.Event
    /// When, in nanoseconds of ``Room/lifeTime``.
    var time: Int64
    /// Called right before the event is told, with the room's value held: what it tells others comes before what follows from
    /// the event, and behind what was added before. Must not block, and must not touch the room.
    var announce: (@Sendable () -> Void)?
}
