/// Changes of the scene on air that are due because sources came or went, a phase of the PK began, or the tick of a scheduled scene
/// has come.
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
