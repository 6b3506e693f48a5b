import LibAV
package import MediaTypes

/// Which sources are worth their decoding: those somebody sees, or will see within a second.
extension ProgramStage {
    /// Tells every source whether it is needed at `tick` or soon after. Program thread, once a tick.
    ///
    /// A source that has its card in its pane is: what it showed while it was covered must not be seen when it is
    /// uncovered.
    ///
    /// - Parameters:
    ///   - sources: Who is there.
    ///   - mixer: Knows who is heard although no scene names him any more, until he has faded.
    ///   - presence: Used again each tick.
    func noteNeeds(
        of sources: [SourceID: Source], at tick: Int64, in mixer: borrowing Mixer, presence: inout ScenePresence
    ) {
        self.director.note(until: tick + Int64(self.director.canvas.fps), in: &presence)
        mixer.noteHeard(in: &presence)
        let isHeld = self.pictureThrift == .hold
        for (id, source) in sources {
            let isSeen = presence.seen.contains(id)
            source.buffer.need.setAway(!isSeen && !presence.heard.contains(id))
            source.buffer.need.setHidden(isHeld || !isSeen || self.isUnseen(id))
        }
    }

    /// The scene is to come on air: its sources are brought to the present meanwhile.
    ///
    /// - Returns: Whether a source of it is behind.
    func reveal(_ scene: Scene) -> Bool {
        var isBehind = false
        for pane in scene.panes where pane.videoPush || pane.audioPush {
            guard let buffer = self.buffer(of: pane.source) else { continue }
            let isLive = buffer.status.status == .live
            // The sound that waits in its socket is read and decoded first.
            if buffer.need.isAway, isLive { isBehind = true }
            buffer.need.setAway(false)
            guard pane.videoPush, buffer.need.isHidden else { continue }
            if isLive { isBehind = true }
            buffer.need.setHidden(false)
        }
        return isBehind
    }
}

/// Who is seen and who is heard, in the scene on air, in the one that is leaving, and in those that come soon.
package struct ScenePresence: Sendable, Hashable {
    package private(set) var seen: Set<SourceID> = []
    /// By a pane, whatever it shows and however loud, since who is muted is heard again at any moment; or fading.
    package private(set) var heard: Set<SourceID> = []

    package init() {}

    mutating func removeAll() {
        self.seen.removeAll(keepingCapacity: true)
        self.heard.removeAll(keepingCapacity: true)
    }

    mutating func insert(heard source: SourceID) { self.heard.insert(source) }

    mutating func insert(_ scene: WarmScene) {
        for pane in scene.scene.panes {
            if pane.videoPush { self.seen.insert(pane.source) }
            if pane.audioPush { self.heard.insert(pane.source) }
        }
    }
}

extension SceneDirector {
    /// Notes who is in the scene on air, in the one that is leaving, and in those that come before `tick`.
    package func note(until tick: Int64, in presence: inout ScenePresence) {
        presence.removeAll()
        self.state.withLock { state in
            presence.insert(state.onAir)
            if let leaving = state.leaving { presence.insert(leaving) }
            for pending in state.pending where pending.tick <= tick { presence.insert(pending.scene) }
        }
    }
}
