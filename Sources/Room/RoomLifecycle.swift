import MediaTypes

/// How far a room has come, from its start to its end.
struct RoomLifecycle: Sendable {
    var state = Room.State.starting
    var outcome: RoomOutcome?
    /// The program has ended, and every encoder is flushed.
    var isMade = false
    /// Why the room ended, if no command has ended it.
    var endCode: ErrorCode?
    var isStarted = false
    /// Nanoseconds since the Unix epoch at program time zero.
    var origin: Int64?
    var firstTick: Int64 = 0
    /// Viewers have been told that they can play.
    var isPlayable = false
    /// Where the listeners are bound to.
    var addresses: [(name: String, address: String)] = []
    /// What the next worker has to finish.
    var debt: MediaError?
    /// The playlists of a room that is over lack their end.
    var isEndOwed = false
    /// When a stopping room must be over, on the machine's clock; `nil`: it is not stopping.
    var stopUntil: Int64?
    /// That a newer worker serves the room has been told.
    var isSupersededTold = false

    /// The room stops, unless it is stopping already: the first reason counts.
    ///
    /// - Parameter until: When it must be over, on the machine's clock.
    /// - Returns: False if it was stopping.
    mutating func stop(_ outcome: RoomOutcome, _ state: Room.State, _ code: ErrorCode?, until: Int64) -> Bool {
        guard self.outcome == nil else { return false }
        (self.outcome, self.endCode, self.state, self.stopUntil) = (outcome, code, state, until)
        return true
    }

    /// The program has begun.
    mutating func start(origin: Int64, firstTick: Int64) {
        (self.origin, self.firstTick, self.isStarted) = (origin, firstTick, true)
        if self.state == .waiting { self.state = .live }
    }
}
