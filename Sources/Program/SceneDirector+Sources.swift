import MediaTypes

/// Sources that come and go while scenes are on air.
extension SceneDirector {
    /// Whether a scene on air, on its way out or waiting for its tick names the source.
    func isNamed(_ source: SourceID) -> Bool {
        self.state.withLock { state in
            state.onAir.names(source) || state.leaving?.names(source) ?? false
                || state.pending.contains { $0.scene.names(source) }
        }
    }

    /// A source is there, and what stands for its picture.
    func join(_ source: SourceID, _ face: SceneFactory.Face) { self.factory.setFace(face, of: source) }

    /// The source is gone, and no scene on air names it: nothing is kept warm for it any more. Not on the program's thread.
    func forget(_ source: SourceID) {
        self.factory.setFace(nil, of: source)
        let gone = self.state.withLock { state -> [WarmScene] in
            state.formats[source] = nil
            state.ahead[source] = nil
            let gone = state.known.filter { $0.names(source) }
            state.known.removeAll { $0.names(source) }
            return gone
        }
        // Graphs are freed where they are made.
        if !gone.isEmpty { self.builder?.submit { withExtendedLifetime(gone) {} } }
    }
}

extension WarmScene {
    /// Whether the source is seen or heard in it, or has a pane that neither shows nor sounds.
    func names(_ source: SourceID) -> Bool { self.scene.panes.contains { $0.source == source } }
}
