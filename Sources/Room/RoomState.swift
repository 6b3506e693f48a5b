import HLS
import MediaTypes
import PipelineSpec
import RoomOutputs
import RoomScenes
import RoomSources

/// The state of a room as one value, which reads no clock and does no I/O.
///
/// ``Room`` keeps it behind one mutex. A thread that holds the mutex builds no graph and reads no file, and takes no lock of the
/// room but those of ``RoomEvents``, ``CommandStore``, `SourceRoster` and `RoomSource`. Times are those of the clocks that
/// ``Room`` was given.
struct RoomState: Sendable {
    var lifecycle = RoomLifecycle()
    var outputs: OutputsState
    /// The room's state as the API shows it, in one word.
    var status: PhaseBook
    var documents: Documents
    /// The scenes, what is on air, and the lives of the sources.
    var scenes: ScenesState
    var isLifeThreadOver = false
    /// What this worker goes on with.
    var resumption: Resumption
    /// Refusals, limits and connections of the sources.
    var sources = SourcesState()
    /// Machine time at which the first decodable packet came.
    var firstArrival: Int64?
    var lingering = ViewerLinger()
    /// What is wrong, and was lately.
    var alarms = AlarmBook()
    /// What is wrong with the file the room runs by.
    var configurationAlarm: AlarmBook.Alarm?
    /// How often the room's files were to be read at once.
    var reloads = ServiceNotices.Reloads()
    /// Since when the room's loops are where they are.
    var loopProgress = (tick: LoopProgress(), encoder: LoopProgress())
    /// Latencies as last computed.
    var latencies: (at: Int64, json: JSONValue)?
    var overload: OverloadGuard
    /// The sockets that are open.
    var servers = RoomListeners.Servers()
    /// How loud the program and the sources are.
    var levels = AudioLevelReports()
    /// Timed metadata that commands have sent.
    var metadata = MetadataDesk()

    /// The document in its versions.
    struct Documents: Sendable {
        /// What the room runs by now; only what may change in a running room differs from what it was made from.
        var running: Pipeline
        /// The document that commands change; `nil`: the room was not made from one.
        var current: RoomDocument?
        /// The pipeline file with the flags of the command line, as the operator wrote it last.
        var written: JSONNode?
        /// The same without what commands have made of it; see ``CommandedState``.
        var file: RoomDocument?
    }

    /// - Parameter now: Nanoseconds since the Unix epoch.
    init(running: Pipeline, document: RoomDocument?, _ resumption: Resumption, _ start: RoomStart, now: Int64) {
        self.scenes = start.scenes
        self.status = PhaseBook(since: now)
        self.documents = Documents(
            running: running, current: document, written: resumption.file?.effective, file: resumption.file)
        self.resumption = resumption
        self.outputs = OutputsState(running)
        self.overload = OverloadGuard(running, renditions: Room.costliestFirst(running))
    }

    /// Viewers can have something of this worker.
    ///
    /// - Parameter hasPackager: False for a room without an HLS output, which is played as soon as it has started.
    func isPlayable(hasPackager: Bool) -> Bool {
        self.lifecycle.isPlayable || self.lifecycle.isStarted && !hasPackager
    }

    /// Judges what the room is in one word.
    ///
    /// - Parameter now: Nanoseconds since the Unix epoch.
    /// - Returns: What has changed, with the error of a room that has failed; `nil`: nothing.
    mutating func judge(
        hasPackager: Bool, now: Int64, _ update: (inout RoomPhase.Facts) -> Void
    ) -> (change: RoomPhase.Change, failure: MediaError?)? {
        update(&self.status.facts)
        self.status.facts.lifecycle = self.lifecycle.state
        self.status.facts.isPlayable = self.lifecycle.isPlayable || !hasPackager
        var failure: MediaError?
        if case .failed(let error)? = self.lifecycle.outcome { failure = error }
        self.status.facts.hasFailed = failure != nil
        guard let change = self.status.phase.noted(self.status.facts) else { return nil }
        if change.to != change.from { self.status.since = now }
        return (change, failure)
    }
}
