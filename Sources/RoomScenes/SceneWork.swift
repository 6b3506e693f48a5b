/// Changes of the scene on air that are due because sources came or went, a phase of the PK began, or the tick of a scheduled scene
/// has come.
///
/// ``ScenesState`` collects it. The next thread that has the turn of ``SceneChanges`` does it.
struct SceneWork: Sendable {
    /// What is on air may be something else than ``RoomLife/planned``.
    var isShowDue = false
    /// Phases of the PK that have begun, whose countdowns and date ranges are due.
    var phases: [PKLife.Change] = []
    /// Others may be live than those the automatic scene on air was made for.
    var isLayoutDue = false
    /// A scheduled scene has come on air.
    var isAdvanceDue = false

    /// Nothing is due.
    var isEmpty: Bool { !self.isShowDue && self.phases.isEmpty && !self.isLayoutDue && !self.isAdvanceDue }

    /// Removes and returns all of it.
    mutating func take() -> SceneWork {
        defer { self = SceneWork() }
        return self
    }
}
