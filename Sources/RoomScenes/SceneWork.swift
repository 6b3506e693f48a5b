/// Pending changes of the scene on air, because sources came or went, a phase of the PK began, or a scheduled scene is
/// due.
///
/// Changes are collected in ``ScenesState/work``. The next call of ``SceneChanges/settle(_:)`` applies them.
struct SceneWork: Sendable {
    /// Whether the scene on air may differ from ``SceneSelector/planned``.
    var isShowDue = false
    /// Phases of the PK that have begun. Their countdowns must be redrawn and their date ranges added to playlists.
    var phases: [PKStateMachine.Change] = []
    /// Whether the live users may differ from those that the automatic scene on air shows.
    var isLayoutDue = false
    /// Whether a scheduled scene has gone on air; ``SceneChanges/change(_:)`` then makes it the scene on air.
    var isAdvanceDue = false

    /// Whether no change is pending.
    var isEmpty: Bool { !self.isShowDue && self.phases.isEmpty && !self.isLayoutDue && !self.isAdvanceDue }

    /// Returns all pending changes, and removes them.
    mutating func take() -> SceneWork {
        defer { self = SceneWork() }
        return self
    }
}
