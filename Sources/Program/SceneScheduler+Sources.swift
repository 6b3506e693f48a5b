import MediaTypes

/// Adding and removing sources while scenes are on air.
extension SceneScheduler {
    /// Whether the source has a pane in the scene on air, the scene that a transition replaces, or a scheduled scene.
    func isNamed(_ source: SourceID) -> Bool {
        self.state.withLock { state in
            state.onAir.names(source) || state.leaving?.names(source) ?? false
                || state.pending.contains { $0.scene.names(source) }
        }
    }

    /// Registers a new source with the name and placeholder to show while it has no frame.
    func join(_ source: SourceID, _ face: SceneBuilder.Face) { self.factory.setFace(face, of: source) }

    /// Frees the graphs and caches of a removed source. The scene on air must no longer contain the source. Call it on
    /// any thread but the program thread.
    func forget(_ source: SourceID) {
        self.factory.setFace(nil, of: source)
        let gone = self.state.withLock { state -> [PreparedScene] in
            state.formats[source] = nil
            state.ahead[source] = nil
            let gone = state.known.filter { $0.names(source) }
            state.known.removeAll { $0.names(source) }
            return gone
        }
        // Graphs are freed on the thread that built them.
        if !gone.isEmpty { self.builder?.submit { withExtendedLifetime(gone) {} } }
    }
}

extension PreparedScene {
    /// Whether the scene has a pane of the source, even one that is neither visible nor audible.
    func names(_ source: SourceID) -> Bool { self.scene.panes.contains { $0.source == source } }
}
