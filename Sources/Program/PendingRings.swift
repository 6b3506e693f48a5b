import MediaTypes

/// Speaking rings of a scene whose layers are not written yet. A value; used while a composition is built.
///
/// A ring lies above its own pane and below panes that cover it. If no later pane covers it, then it is written after the
/// last pane, since panes without anything between them can be stacked, which is cheaper than overlaying them.
struct PendingRings {
    struct Ring {
        var source: SourceID
        var style: SpeakingRing
        /// Rectangle that the frame of the pane covers.
        var rect: Rect
        var cornerRadius: Int
    }

    /// The panes that follow, bottom first.
    private var following: [Pane]
    private var waiting: [Ring] = []

    /// - Parameter panes: The visible panes of the scene, bottom first.
    init(panes: [Pane]) { self.following = panes }

    /// Adds the ring of the next pane, if it has one.
    ///
    /// - Parameter rect: The rectangle that the pane's frame covers.
    /// - Returns: The rings that are written right after the pane.
    mutating func take(after pane: Pane, _ rect: Rect) -> [Ring] {
        if !self.following.isEmpty { self.following.removeFirst() }
        if let style = pane.speakingRing {
            self.waiting.append(Ring(source: pane.source, style: style, rect: rect, cornerRadius: pane.cornerRadius))
        }
        guard let next = self.following.first else {
            defer { self.waiting = [] }
            return self.waiting
        }
        let due = self.waiting.filter { next.rect.intersects($0.rect) }
        self.waiting.removeAll { next.rect.intersects($0.rect) }
        return due
    }
}
