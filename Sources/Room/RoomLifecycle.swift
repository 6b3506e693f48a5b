import MediaTypes
import Packager
import PipelineSpec

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
    /// Files are made of its recording.
    var isRecorded = false
    /// What the recording lacks at the room's end; nil before that is known, inner nil if it lacks nothing.
    var recordingDebt: MediaError??
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

/// What the outputs of a room have taken, and what they lack.
struct OutputFacts: Sendable {
    var segments: Int64 = 0
    /// Bytes of the last segment by track, and how many frames it is long.
    var lastSizes: [String: Int] = [:]
    var lastFrames: Int64 = 0
    /// Failed writes of the output.
    var failures = RepeatedFailures()
    /// What outputs lack for good; see ``Room/damage``.
    var damage = OutputDamage()
    /// How the packager has ended; nil before that.
    var packaged: HLSPackager.Outcome?
    /// The black frames that stores get in place of what they have lost; nil before they are needed, inner nil if they cannot be encoded.
    var uploadSlate: Slate??
    /// Sheets of stills that viewers may have, by image output.
    var sprites: [String: SpriteFiles] = [:]
    /// A directory that was moved away or mounted over, and when that was noticed, on the machine's clock.
    var restoredPlace: (path: String, at: Int64)?
}
