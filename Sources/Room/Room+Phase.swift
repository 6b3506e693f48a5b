import HLS
import MediaTypes

/// The room's ``RoomPhase`` and what it is told.
struct PhaseBook: Sendable {
    var phase = RoomPhase()
    var facts = RoomPhase.Facts()
    /// When the state began, in nanoseconds since the Unix epoch.
    var since: Int64
}

extension Room {
    /// What the room is, in one word.
    package var phaseState: RoomPhase.State { self.phase.withLock { $0.phase.state } }

    /// Viewers can have something of this worker.
    var isPlayable: Bool {
        let (isPlayable, isStarted) = self.mutable.withLock { ($0.isPlayable, $0.isStarted) }
        return isPlayable || isStarted && self.packager == nil
    }

    /// Viewers could, of this worker or of one before it.
    var wasPlayed: Bool { self.isPlayable || self.packager?.hasPublishedBefore == true }

    /// Looks at the sources that are on air, at overload, and at what the room is because of them; where the life steps.
    func watchPhase() {
        let (hasPublisher, hasMedia) = self.life.life.withLock { life -> (Bool, Bool) in
            let onAir = life.onAir.scene.sources
            let isThere = onAir.contains { life.sources[$0]?.state == .live }
            // Nobody has been there: idle. Nobody is there, nor expected: gone. A file that is over: ended.
            let isAny = life.sources.values.contains { source in
                switch source.state {
                case .idle, .gone, .ended: false
                case .connected, .publishing, .live, .stalled, .lost, .reconnecting: true
                }
            }
            return (isAny, isThere || onAir.isEmpty)
        }
        // An attempt at level 0 counts when it has held: a machine at its limit must not change the state with every attempt.
        let overload = self.overload.overload
        let steps = self.isOffline || !overload.isOverloaded(at: self.machine.now()) ? 0 : max(1, overload.taken)
        self.notePhase { facts in
            (facts.hasPublisher, facts.hasMedia, facts.overloadSteps) = (hasPublisher, hasMedia, steps)
        }
    }

    /// Tells what the room is when that has changed.
    ///
    /// - Parameter update: What else is known by now.
    func notePhase(_ update: (inout RoomPhase.Facts) -> Void = { _ in }) {
        // The event is told with the lock held: two threads that see two changes must not tell them the other way round.
        self.phase.withLock { book in
            update(&book.facts)
            let (lifecycle, outcome, isPlayable) = self.mutable.withLock { ($0.state, $0.outcome, $0.isPlayable) }
            book.facts.lifecycle = lifecycle
            book.facts.isPlayable = isPlayable || self.packager == nil
            var failure: MediaError?
            if case .failed(let error)? = outcome { failure = error }
            book.facts.hasFailed = failure != nil
            guard let change = book.phase.noted(book.facts) else { return }
            if change.to != change.from { book.since = self.clocks.wall.now() }
            self.events.emit(
                "room.state",
                [
                    "from": .string(change.from.rawValue), "to": .string(change.to.rawValue),
                    "cause": JSONValue(change.cause?.rawValue), "code": JSONValue(failure?.code.description),
                    "reason": JSONValue(failure?.description),
                ])
        }
    }

    /// For the state: the word, since when, and why.
    var phaseMembers: (state: JSONValue, since: JSONValue, cause: JSONValue) {
        let book = self.phase.withLock { $0 }
        return (
            .string(book.phase.state.rawValue), .string(ProgramDate.format(book.since)),
            JSONValue(book.phase.cause?.rawValue)
        )
    }
}
