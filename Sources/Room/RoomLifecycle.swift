import MediaTypes

/// The progress of a room from its start to its end, with its outcome.
struct RoomLifecycle: Sendable {
    var state = Room.State.starting
    var outcome: RoomOutcome?
    /// Whether the program has ended and every encoder is flushed.
    var isMade = false
    /// Error code if the room ended by itself because of a limit, such as the idle time; otherwise nil.
    var endCode: ErrorCode?
    var isStarted = false
    /// Wall clock time at program time 0, in nanoseconds since the Unix epoch; nil before the program has started.
    var origin: Int64?
    var firstTick: Int64 = 0
    /// Whether this worker has published media that viewers can play; false in a room without an HLS output.
    var isPlayable = false
    /// Name and address of each open listener.
    var addresses: [(name: String, address: String)] = []
    /// Incomplete outputs that the next worker has to complete; nil if there are none.
    var pendingWork: MediaError?
    /// Whether this worker could not complete the playlists: `EXT-X-ENDLIST` is missing, or the last segment of a room that
    /// is handed over.
    var isEndOwed = false
    /// Deadline for the end of a stopping room, in nanoseconds of the monotonic clock; nil if the room is not stopping.
    var stopUntil: Int64?
    /// Whether `room.superseded` was emitted.
    var isSupersededTold = false

    /// Whether this worker has published media that viewers can play.
    ///
    /// - Parameter hasPackager: Whether the room has an HLS output. A room without one counts as playable once its program
    ///   has started.
    func isPlayable(hasPackager: Bool) -> Bool { self.isPlayable || self.isStarted && !hasPackager }

    /// Notes work that this worker leaves to the next one. The first note counts.
    mutating func add(_ work: MediaError) { self.pendingWork = self.pendingWork ?? work }

    /// Starts to stop the room. Does nothing if it is stopping already: the first reason counts.
    ///
    /// - Parameter until: Deadline for the room's end, in nanoseconds of the monotonic clock.
    /// - Returns: False if the room was stopping already.
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
