package import MediaTypes

extension Scene {
    /// Returns the scene without the panes of these sources. A named layout is recomputed for the remaining users, if
    /// needed with another layout that accepts that number of users; explicit panes keep their rectangles.
    /// ``Layout/auto`` without users stays as it is: it shows the live users that ``resolvedPanes(canvas:live:)`` gets.
    package func without(_ sources: Set<SourceID>) -> Scene {
        guard !sources.isEmpty else { return self }
        var scene = self
        switch self.arrangement {
        case .panes(let panes): scene.arrangement = .panes(panes.filter { !sources.contains($0.source) })
        case .layout(.auto, let uids) where uids.isEmpty: break
        case .layout(let layout, let uids):
            let remaining = uids.filter { !sources.contains(SourceID($0)) }
            let fitting = [layout, .solo, .sideBySide, .grid].first { $0.userCount.contains(remaining.count) }
            scene.arrangement = fitting.map { .layout($0, uids: remaining) } ?? .panes([])
        }
        return scene
    }
}
