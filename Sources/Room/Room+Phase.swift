import MediaTypes
import Origin

extension Room {
    /// The room's phase as clients see it; see ``RoomPhase``.
    package var phaseState: RoomPhase.State { self.value.withLock { $0.status.phase.state } }

    /// Whether this worker has published media that viewers can play. In a room without an HLS output: whether the
    /// program has started.
    var isPlayable: Bool { self.value.withLock { $0.lifecycle.isPlayable(hasPackager: self.packager != nil) } }

    /// Whether this worker or an earlier one has published media that viewers can play.
    package var wasPlayed: Bool { self.value.withLock { self.wasPlayed($0) } }

    /// As ``wasPlayed``, for callers that have locked the room's value.
    func wasPlayed(_ value: borrowing RoomState) -> Bool {
        value.lifecycle.isPlayable(hasPackager: self.packager != nil) || self.packager?.hasPublishedBefore == true
    }

    /// Returns what the viewers' page says about the room.
    var viewerStatus: @Sendable () -> ViewerStatus {
        let (value, packager) = (self.value, self.packager)
        return { value.withLock { $0.viewerStatus(packager) } }
    }

    /// Updates the room's phase from the sources on air and the overload. Called on the life thread at each step.
    func watchPhase() {
        let (hasPublisher, hasMedia) = self.value.withLock { value -> (Bool, Bool) in
            let (shared, sources) = (value.api.documents.shared, value.scenes.life.sources)
            let onAir = value.scenes.life.planned.scene.sources
            let isThere = onAir.contains { sources[$0]?.state == .live }
            // `idle`: never published. `gone`: neither connected nor expected back. `ended`: a file that was read to
            // its end. Background sources do not count: viewers learn that the streamers have left although music plays.
            let isAny = sources.contains { id, source in
                switch source.state {
                case .idle, .gone, .ended: false
                case .connected, .publishing, .live, .stalled, .lost, .reconnecting:
                    shared.pipeline.source(id)?.background != true
                }
            }
            return (isAny, isThere || onAir.isEmpty)
        }
        // After the last step was undone, the room still counts as overloaded for `Overload.Rules.proof`: on a machine at
        // its limit, the phase must not change with every attempt.
        let overload = self.overload.current
        let steps = self.isOffline || !overload.isOverloaded(at: self.machine.now()) ? 0 : max(1, overload.taken)
        self.notePhase { facts in
            (facts.hasPublisher, facts.hasMedia, facts.overloadSteps) = (hasPublisher, hasMedia, steps)
        }
    }

    /// Emits `room.state` if the phase has changed.
    ///
    /// - Parameter update: Changes other facts that the phase depends on.
    func notePhase(_ update: (inout RoomPhase.Facts) -> Void = { _ in }) {
        let now = self.clocks.wall.now()
        // The event is emitted while the lock is held, so that events of two threads cannot be emitted in the wrong
        // order.
        self.value.withLock { value in
            guard let (change, failure) = value.judge(hasPackager: self.packager != nil, now: now, update) else {
                return
            }
            self.events.emit(
                "room.state",
                [
                    "from": .string(change.from.rawValue), "to": .string(change.to.rawValue),
                    "cause": JSONValue(change.cause?.rawValue), "code": JSONValue(failure?.code.description),
                    "reason": JSONValue(failure?.description),
                ])
        }
    }
}
