package import MediaTypes

/// Decides which sources must be fully decoded: those that are visible or audible, or will be within a second, and those
/// that a page shows.
extension ProgramStage {
    /// Updates for every source whether it is needed at `tick` or within the next second. Called on the program thread,
    /// once per tick.
    ///
    /// A source whose card is shown instead of its video counts as needed, so that no outdated frame appears when its
    /// video is shown again.
    ///
    /// - Parameters:
    ///   - sources: All sources of the program.
    ///   - mixer: Reports the sources that are audible, also those that no scene names any more and that fade out.
    ///   - presence: Buffer that is reused for every tick.
    func noteNeeds(
        of sources: [SourceID: Source], at tick: Int64, in mixer: borrowing AudioMixer, presence: inout SourceVisibility
    ) {
        self.scheduler.note(until: tick + Int64(self.scheduler.canvas.fps), in: &presence)
        mixer.noteHeard(in: &presence)
        let background = self.shared.withLock { $0.background }
        for source in background { presence.insert(heard: source) }
        let isHeld = self.frameMode == .hold
        let time = self.time(of: tick)
        for (id, source) in sources {
            let (isSeen, isKept) = (presence.seen.contains(id), source.buffer.need.isKeptDecoded(at: time))
            source.buffer.need.setAway(!isSeen && !isKept && !presence.heard.contains(id))
            source.buffer.need.setHidden(isHeld || !isKept && (!isSeen || self.isUnseen(id)))
        }
    }

    /// Marks the sources of a scene as needed before the scene comes on air, so that they catch up with the current
    /// time.
    ///
    /// - Returns: Whether at least one of the sources has to catch up.
    func reveal(_ scene: Scene) -> Bool {
        var isBehind = false
        for pane in scene.panes where pane.videoPush || pane.audioPush {
            guard let buffer = self.buffer(of: pane.source) else { continue }
            let isLive = buffer.status.status == .live
            // The audio that waits in its socket must be read and decoded first.
            if buffer.need.isAway, isLive { isBehind = true }
            buffer.need.setAway(false)
            guard pane.videoPush, buffer.need.isHidden else { continue }
            if isLive { isBehind = true }
            buffer.need.setHidden(false)
        }
        return isBehind
    }
}

/// The sources that are visible (`seen`) or audible (`heard`) now or within the next second.
package struct SourceVisibility: Sendable, Hashable {
    package private(set) var seen: Set<SourceID> = []
    /// Sources of audible panes, also muted ones and those with volume 0 (they can become audible at any moment),
    /// background sources, and sources that are fading out.
    package private(set) var heard: Set<SourceID> = []

    package init() {}

    mutating func removeAll() {
        self.seen.removeAll(keepingCapacity: true)
        self.heard.removeAll(keepingCapacity: true)
    }

    mutating func insert(heard source: SourceID) { self.heard.insert(source) }

    mutating func insert(_ scene: PreparedScene) {
        for pane in scene.scene.panes {
            if pane.videoPush { self.seen.insert(pane.source) }
            if pane.audioPush { self.heard.insert(pane.source) }
        }
    }
}

extension SceneScheduler {
    /// Collects the sources of the scene on air, of the scene that a transition replaces, and of the scenes scheduled
    /// up to `tick`.
    package func note(until tick: Int64, in presence: inout SourceVisibility) {
        presence.removeAll()
        self.state.withLock { state in
            presence.insert(state.onAir)
            if let leaving = state.leaving { presence.insert(leaving) }
            for pending in state.pending where pending.tick <= tick { presence.insert(pending.scene) }
        }
    }
}
