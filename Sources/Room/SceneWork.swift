/// What is to be done about the scenes because of what has happened in the room: sources that came or went, phases of the PK,
/// scheduled scenes whose tick has come.
///
/// ``RoomState`` collects it. The next thread that holds ``Room/sceneTurn`` does it.
struct SceneWork: Sendable {
    /// What is on air may be something else than ``RoomLife/onAir``.
    var isShowDue = false
    /// Phases of the PK that have begun, whose countdowns and date ranges are due.
    var phases: [PKLife.Change] = []
    /// Others may be live than those the automatic scene on air was made for.
    var isLayoutDue = false
    /// A scheduled scene has come on air.
    var isAdvanceDue = false

    var isEmpty: Bool { !self.isShowDue && self.phases.isEmpty && !self.isLayoutDue && !self.isAdvanceDue }

    /// What there is to do; nothing is left.
    mutating func take() -> SceneWork {
        defer { self = SceneWork() }
        return self
    }
}
