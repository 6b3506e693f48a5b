/// Changes of the scene on air that are due, because sources came or went, a phase of the PK began, or a scheduled scene is due.
///
/// ``ScenesState`` collects it. The next thread in ``SceneChanges/change(_:)`` applies it.
struct SceneWork: Sendable {
    /// The scene on air may differ from ``SceneSelector/planned``.
    var isShowDue = false
    /// Phases of the PK that have begun; their countdowns must be redrawn and their date ranges listed.
    var phases: [PKStateMachine.Change] = []
    /// The live users may differ from those that the automatic scene on air shows.
    var isLayoutDue = false
    /// A scheduled scene went on air.
    var isAdvanceDue = false

    /// Nothing is due.
    var isEmpty: Bool { !self.isShowDue && self.phases.isEmpty && !self.isLayoutDue && !self.isAdvanceDue }

    /// Removes and returns all of it.
    mutating func take() -> SceneWork {
        defer { self = SceneWork() }
        return self
    }
}
