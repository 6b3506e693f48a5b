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
    package var phaseState: RoomPhase.State { self.value.withLock { $0.status.phase.state } }

    /// Viewers can have something of this worker.
    var isPlayable: Bool { self.value.withLock { $0.isPlayable(hasPackager: self.packager != nil) } }

    /// Viewers could, of this worker or of one before it.
    package var wasPlayed: Bool { self.value.withLock { self.wasPlayed($0) } }

    /// The same for those who hold the value.
    func wasPlayed(_ value: borrowing RoomState) -> Bool {
        value.isPlayable(hasPackager: self.packager != nil) || self.packager?.hasPublishedBefore == true
    }

    /// Looks at the sources that are on air, at overload, and at what the room is because of them; where the life steps.
    func watchPhase() {
        let (hasPublisher, hasMedia) = self.value.withLock { value -> (Bool, Bool) in
            let life = value.scenes.life
            let onAir = life.planned.scene.sources
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
        let overload = self.overload
        let steps = self.isOffline || !overload.isOverloaded(at: self.machine.now()) ? 0 : max(1, overload.taken)
        self.notePhase { facts in
            (facts.hasPublisher, facts.hasMedia, facts.overloadSteps) = (hasPublisher, hasMedia, steps)
        }
    }

    /// Tells what the room is when that has changed.
    ///
    /// - Parameter update: What else is known by now.
    func notePhase(_ update: (inout RoomPhase.Facts) -> Void = { _ in }) {
        let now = self.clocks.wall.now()
        // The event is told with the lock held: two threads that see two changes must not tell them the other way round.
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

    /// For the state: the word, since when, and why.
    var phaseMembers: (state: JSONValue, since: JSONValue, cause: JSONValue) {
        let book = self.value.withLock(\.status)
        return (
            .string(book.phase.state.rawValue), .string(ProgramDate.format(book.since)),
            JSONValue(book.phase.cause?.rawValue)
        )
    }
}
