import MediaTypes

/// The progress of a room from its start to its end.
struct RoomLifecycle: Sendable {
    var state = Room.State.starting
    var outcome: RoomOutcome?
    /// Whether the program has ended and every encoder is flushed.
    var isMade = false
    /// Why the room ended, if no command has ended it.
    var endCode: ErrorCode?
    var isStarted = false
    /// Nanoseconds since the Unix epoch at program time zero.
    var origin: Int64?
    var firstTick: Int64 = 0
    /// Whether the event that viewers can play was emitted.
    var isPlayable = false
    /// The addresses of the listeners.
    var addresses: [(name: String, address: String)] = []
    /// What the next worker has to finish.
    var debt: MediaError?
    /// Whether the playlists of an ended room lack `EXT-X-ENDLIST`.
    var isEndOwed = false
    /// When a stopping room must have ended, on the machine's clock; `nil`: it is not stopping.
    var stopUntil: Int64?
    /// Whether `room.superseded` was emitted.
    var isSupersededTold = false

    /// Stops the room, unless it is stopping already: the first reason counts.
    ///
    /// - Parameter until: When it must have ended, on the machine's clock.
    /// - Returns: False if it was stopping.
    mutating func stop(_ outcome: RoomOutcome, _ state: Room.State, _ code: ErrorCode?, until: Int64) -> Bool {
        guard self.outcome == nil else { return false }
        (self.outcome, self.endCode, self.state, self.stopUntil) = (outcome, code, state, until)
        return true
    }

    /// Records that the program has begun.
    mutating func start(origin: Int64, firstTick: Int64) {
        (self.origin, self.firstTick, self.isStarted) = (origin, firstTick, true)
        if self.state == .waiting { self.state = .live }
    }
}
