import MediaTypes
import PipelineSpec
import RoomAPI
import RoomOutputs
import RoomScenes
import RoomSources

/// The state of a room as one value, which reads no clock and does no I/O.
///
/// ``Room`` protects it with one mutex. A thread that holds the mutex must not build a filter graph or read a file, and
/// must take no lock of the room but those of ``RoomEvents``, ``CommandStore``, `SourceRoster` and `RoomSource`. Times
/// are those of the clocks that ``Room`` was given.
struct RoomState: Sendable {
    var lifecycle = RoomLifecycle()
    var outputs: OutputsState
    /// The room's state as the API shows it, in one word.
    var status: RoomStatus
    var api: APIState
    /// The scenes, what is on air, and the lives of the sources.
    var scenes: ScenesState
    var isLifeThreadOver = false
    /// The state that this worker continues with.
    var resumption: Resumption
    /// Refusals, limits and connections of the sources.
    var sources = SourcesState()
    /// When the first decodable packet arrived, on the machine's clock.
    var firstArrival: Int64?
    var lingering = ViewerLinger()
    /// The active and recently cleared alarms.
    var alarms = ActiveAlarms()
    /// The alarm of the pipeline file.
    var configurationAlarm: ActiveAlarms.Alarm?
    var overload: OverloadGuard
    /// The sockets that are open.
    var servers = RoomListeners.Servers()

    /// - Parameter now: Nanoseconds since the Unix epoch.
    init(running: Pipeline, document: RoomDocument?, _ resumption: Resumption, _ start: RoomStart, now: Int64) {
        self.scenes = start.scenes
        self.status = RoomStatus(since: now)
        self.api = APIState(running: running, current: document, file: resumption.file)
        self.resumption = resumption
        self.outputs = OutputsState(running)
        self.overload = OverloadGuard(running)
    }

    /// Whether this worker has published media that viewers can play.
    ///
    /// - Parameter hasPackager: False for a room without an HLS output, which is played as soon as it has started.
    func isPlayable(hasPackager: Bool) -> Bool {
        self.lifecycle.isPlayable || self.lifecycle.isStarted && !hasPackager
    }

    /// Updates the room's phase.
    ///
    /// - Parameter now: Nanoseconds since the Unix epoch.
    /// - Returns: The change, with the error if the room has failed; `nil`: nothing has changed.
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
