import LibAV
import MediaTypes

/// Which sources are worth their decoding: those somebody sees, or will see within a second.
extension ProgramStage {
    /// Tells every source whether it is needed at `tick` or soon after. Program thread, once a tick.
    ///
    /// A source that has its card in its pane is: what it showed while it was covered must not be seen when it is
    /// uncovered.
    ///
    /// - Parameters:
    ///   - sources: Who is there.
    ///   - seen: Used again each tick.
    func noteNeeds(of sources: [SourceID: Source], at tick: Int64, seen: inout Set<SourceID>) {
        self.director.sourcesInSight(until: tick + Int64(self.director.canvas.fps), into: &seen)
        let isHeld = self.pictureThrift == .hold
        for (id, source) in sources {
            let isAway = !seen.contains(id)
            source.buffer.need.setAway(isAway)
            source.buffer.need.setHidden(isHeld || isAway || self.isUnseen(id))
        }
    }

    /// The scene is to come on air: its sources are brought to the present meanwhile.
    ///
    /// - Returns: Whether a source of it is behind.
    func reveal(_ scene: Scene) -> Bool {
        var isBehind = false
        for pane in scene.visiblePanes {
            guard let buffer = self.buffer(of: pane.source) else { continue }
            buffer.need.setAway(false)
            guard buffer.need.isHidden else { continue }
            if buffer.status.status == .live { isBehind = true }
            buffer.need.setHidden(false)
        }
        return isBehind
    }
}

extension SceneDirector {
    /// Sources in the scene on air, in the one that is leaving, and in those that come before `tick`.
    func sourcesInSight(until tick: Int64, into seen: inout Set<SourceID>) {
        seen.removeAll(keepingCapacity: true)
        self.state.withLock { state in
            for pane in state.onAir.panes { seen.insert(pane.source) }
            for pane in state.leaving?.panes ?? [] { seen.insert(pane.source) }
            for pending in state.pending where pending.tick <= tick {
                for pane in pending.scene.panes { seen.insert(pane.source) }
            }
        }
    }
}
