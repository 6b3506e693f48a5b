import MediaTypes
import PipelineSpec
import RoomAPI
import RoomOutputs
import RoomScenes
import RoomSources

/// The state of a room as one value. It reads no clock and does no I/O.
///
/// ``Room`` protects it with one mutex. A thread that holds the mutex must not build a filter graph or read a file. Times
/// are those of the room's clocks.
struct RoomState: Sendable {
    var lifecycle = RoomLifecycle()
    var outputs: OutputsState
    /// The room's state as the API shows it.
    var status: RoomStatus
    var api: APIState
    /// The scenes, which of them is on air, and the states of the sources.
    var scenes: ScenesState
    var isLifeThreadOver = false
    /// The commanded state of the previous worker that this worker continues with.
    var resumption: Resumption
    /// Kicks, rate limits and connections of the sources.
    var sources = SourcesState()
    /// When the first decodable packet arrived, or when the program was started without one; on the monotonic clock. nil
    /// before that.
    var firstArrival: Int64?
    var lingering = ViewerLinger()
    /// The active and recently cleared alarms.
    var alarms = ActiveAlarms()
    /// The alarm that the watched pipeline file is invalid; nil if it is valid or not watched.
    var configurationAlarm: ActiveAlarms.Alarm?
    var overload: OverloadGuard
    /// The open listeners and their certificates.
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

    /// Updates the room's phase from its facts.
    ///
    /// - Parameter now: Nanoseconds since the Unix epoch.
    /// - Returns: The change of the phase, with the error if the room has failed; nil if nothing has changed.
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
